import { databaseNow, sql, type Tx } from '@postroom/platform';
import type { Definition } from '@postroom/journey-definition';
import { eventsSince } from './past-events.ts';
import { type Arrival, computeArrival, type EndReason, getStep } from './rules.ts';

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

/** A run, or a contact that enters, on its way to a step. */
export interface PendingArrival {
  definition: Definition;
  to: string | null;
  endReason?: EndReason | undefined;
  /** Where it stays if the run ends. */
  from: string;
  contactId: string;
  enteredAt: Date;
  customFields: Record<string, unknown>;
}

/** Computes where runs are after they arrive. */
export async function computeArrivals(
  tx: Tx,
  projectId: string,
  arriving: readonly PendingArrival[],
): Promise<Arrival[]> {
  const now = databaseNow();
  const seen = await findAlreadyHappened(tx, projectId, arriving);
  return arriving.map(({ definition, customFields, ...place }, index) =>
    computeArrival(definition, place, { now, customFields, happened: seen.has(index) }),
  );
}

/** The indexes of runs that arrive at a step that waits for an event which has already happened since they entered. */
async function findAlreadyHappened(
  tx: Tx,
  projectId: string,
  arriving: readonly PendingArrival[],
): Promise<Set<number>> {
  const waiting = [...arriving.entries()].flatMap(([index, run]) => {
    const step = run.to === null ? undefined : getStep(run.definition, run.to);
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
  const places = await computeArrivals(
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
