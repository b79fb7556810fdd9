import { type Definition, durationMs, EVERY_DAY, type Step, zoneOf } from '@postroom/journey-definition';
import { sql, type Tx } from '@postroom/platform';
import { nextLocalTimes } from './local-time.ts';
import { eventsSince } from './past-events.ts';

/** Why a run ended. */
type EndReason = 'completed' | 'exit' | 'goal' | 'removed' | 'new_version';

/** A run as transitions need it. */
export interface Run {
  id: string;
  contactId: string;
  version: number;
  stepId: string;
  visit: number;
  enteredAt: Date;
  arrivedAt: Date;
  properties: Record<string, unknown>;
  customFields: Record<string, unknown>;
}

/** The columns of the enrollment `e` and its contact `c` that make a `Run`. */
export const RUN_COLUMNS = `e.id, e.contact_id AS "contactId", e.version, e.step_id AS "stepId", e.visit, e.entered_at AS "enteredAt",
  e.arrived_at AS "arrivedAt", e.properties, c.custom_fields AS "customFields"`;

/** A run leaves its step. */
export interface Move {
  run: Run;
  /** The definition of the version that it continues on. */
  definition: Definition;
  version?: number;
  outcome: string;
  detail?: string | undefined;
  messageId?: string | undefined;
  /** The step that follows; null if the run ends. */
  to: string | null;
  endReason?: EndReason;
}

/** Where a run is after it arrived at a step: it waits until `dueAt` or for an event, or has ended. */
export interface Arrival {
  stepId: string;
  dueAt: Date | null;
  waitsFor: string | null;
  endReason: EndReason | null;
}

const stepOf = ({ steps }: Definition, id: string): Step | undefined => steps.find((step) => step.id === id);

/** The step of a definition. @throws Error if it has none of this id, which publishing rules out. */
export function getStep(definition: Definition, id: string): Step {
  const step = stepOf(definition, id);
  if (step === undefined) throw new Error(`The journey has no step "${id}".`);
  return step;
}

/** A run, or a contact that enters, on its way to a step. */
export interface Arriving {
  definition: Definition;
  to: string | null;
  endReason?: EndReason | undefined;
  /** Where it stays if the run ends. */
  from: string;
  contactId: string;
  enteredAt: Date;
  customFields: Record<string, unknown>;
}

/** Computes where runs are after they arrive. Local times are computed by PostgreSQL, in one statement. */
export async function arrivals(tx: Tx, projectId: string, arriving: readonly Arriving[]): Promise<Arrival[]> {
  const now = Date.now();
  const steps = arriving.map(({ definition, to }) => (to === null ? undefined : getStep(definition, to)));
  const untils = [...arriving.entries()].flatMap(([index, { definition, customFields }]) => {
    const step = steps[index];
    return step?.type === 'wait_until' ? [{ index, step, zone: zoneOf(definition, customFields) }] : [];
  });
  const times = await nextLocalTimes(
    tx,
    untils.map(({ step, zone }) => ({ time: step.time, weekdays: step.weekdays ?? EVERY_DAY, zone })),
  );
  const dueAt = new Map(untils.map(({ index }, at) => [index, times[at] as Date]));
  const seen = await alreadySeen(tx, projectId, arriving, steps);
  return arriving.map(({ to, from, endReason }, index) => {
    const step = steps[index];
    const base = { stepId: to ?? from, waitsFor: null, dueAt: null, endReason: null };
    if (step === undefined) return { ...base, endReason: endReason ?? 'completed' };
    switch (step.type) {
      case 'exit':
        return { ...base, endReason: 'exit' };
      case 'wait':
        return { ...base, dueAt: new Date(now + durationMs(step.for)) };
      case 'wait_until':
        return { ...base, dueAt: dueAt.get(index) ?? new Date(now) };
      case 'wait_for_event': {
        // Due at once: the step then finds the event again.
        if (seen.has(index)) return { ...base, dueAt: new Date(now), waitsFor: step.event };
        const timeout = step.timeout === undefined ? null : new Date(now + durationMs(step.timeout));
        return { ...base, dueAt: timeout, waitsFor: step.event };
      }
      default:
        return { ...base, dueAt: new Date(now) };
    }
  });
}

/** The places of runs that arrive at a step which waits for an event that already happened since they entered. */
async function alreadySeen(
  tx: Tx,
  projectId: string,
  arriving: readonly Arriving[],
  steps: readonly (Step | undefined)[],
): Promise<Set<number>> {
  const waiting = [...arriving.entries()].flatMap(([index, run]) => {
    const step = steps[index];
    return step?.type === 'wait_for_event' && step.since !== 'step' ? [{ index, ...run, step }] : [];
  });
  const found = await eventsSince(tx, projectId, waiting);
  return new Set(waiting.filter((_, at) => found[at]).map(({ index }) => index));
}

const MOVE = `
  UPDATE enrollments e SET step_id = n.step_id, visit = e.visit + 1, due_at = n.due_at, waits_for = n.waits_for, arrived_at = now(),
    version = n.version, end_reason = n.end_reason, ended_at = CASE WHEN n.end_reason IS NOT NULL THEN now() END,
    status = CASE WHEN n.end_reason IS NULL THEN e.status WHEN n.end_reason = 'completed' THEN 'completed' ELSE 'exited' END::enrollment_status
  FROM unnest($1::text[], $2::int[], $3::text[], $4::timestamptz[], $5::text[], $6::int[], $7::text[])
    AS n(id, visit, step_id, due_at, waits_for, version, end_reason)
  WHERE e.id = n.id AND e.visit = n.visit AND e.ended_at IS NULL AND (e.status = 'active' OR $8) RETURNING e.id`;

const LOG = `
  INSERT INTO enrollment_steps (enrollment_id, visit, step_id, arrived_at, outcome, detail, message_id)
  SELECT * FROM unnest($1::text[], $2::int[], $3::text[], $4::timestamptz[], $5::text[], $6::text[], $7::text[])`;

/**
 * Moves runs to their next steps and records the steps they leave. A run that has left the step meanwhile, or ended, stays as
 * it is. The caller has locked the journey.
 * @param mayBePaused also moves runs that are paused individually.
 * @returns the ids of the runs that moved.
 */
export async function moveRuns(
  tx: Tx,
  projectId: string,
  moves: readonly Move[],
  mayBePaused = false,
): Promise<Set<string>> {
  if (moves.length === 0) return new Set();
  const places = await arrivals(
    tx,
    projectId,
    moves.map(({ run, definition, to, endReason }) => ({
      definition,
      to,
      endReason,
      from: run.stepId,
      contactId: run.contactId,
      enteredAt: run.enteredAt,
      customFields: run.customFields,
    })),
  );
  const rows = await sql<{ id: string }>(tx, MOVE, [
    moves.map(({ run }) => run.id),
    moves.map(({ run }) => run.visit),
    places.map(({ stepId }) => stepId),
    places.map(({ dueAt }) => dueAt),
    places.map(({ waitsFor }) => waitsFor),
    moves.map(({ run, version }) => version ?? run.version),
    places.map(({ endReason }) => endReason),
    mayBePaused,
  ]);
  const moved = new Set(rows.map(({ id }) => id));
  const left = moves.filter(({ run }) => moved.has(run.id));
  await sql(tx, LOG, [
    left.map(({ run }) => run.id),
    left.map(({ run }) => run.visit),
    left.map(({ run }) => run.stepId),
    left.map(({ run }) => run.arrivedAt),
    left.map(({ outcome }) => outcome),
    left.map(({ detail }) => detail?.slice(0, 500) ?? null),
    left.map(({ messageId }) => messageId ?? null),
  ]);
  return moved;
}
