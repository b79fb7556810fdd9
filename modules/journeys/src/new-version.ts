import { type Definition, durationMs, parseDefinition } from '@postroom/journey-definition';
import { pool, runCostly, sql, type Tx } from '@postroom/platform';
import { eventsSince } from './past-events.ts';

/** What happens to contacts that are on earlier versions when another one is published. */
export type InProgress = 'finish' | 'move' | 'exit';

/** Contacts that are at a step of a version. */
export interface StepCount {
  version: number;
  stepId: string;
  contactCount: number;
  /** How many of them fall due within a day. */
  dueWithinDay: number;
  /** Whether the draft has a step with this id and type, to which they would be moved. */
  hasMatch: boolean;
}

const COUNT = `
  SELECT e.journey_id AS "journeyId", e.version, e.step_id AS "stepId", count(*)::int AS "contactCount",
    count(*) FILTER (WHERE e.due_at < now() + interval '1 day')::int AS "dueWithinDay",
    (SELECT step ->> 'type' FROM journey_versions v, jsonb_array_elements(v.definition -> 'steps') AS step
      WHERE v.journey_id = e.journey_id AND v.number = e.version AND step ->> 'id' = e.step_id) AS type
  FROM enrollments e WHERE e.journey_id = ANY ($1) AND e.ended_at IS NULL
  GROUP BY e.journey_id, e.version, e.step_id ORDER BY e.version, e.step_id`;

/** The contacts that are at a step of a version, and the step's type. */
export interface AtStep extends Omit<StepCount, 'hasMatch'> {
  journeyId: string;
  type: string;
}

/** Where the contacts of each of the project's journeys are. */
export async function countAtSteps(projectId: string, ids: readonly string[]): Promise<Map<string, AtStep[]>> {
  const { rows } = await runCostly(projectId, () => pool.query<AtStep>(COUNT, [ids]));
  return Map.groupBy(rows, ({ journeyId }) => journeyId);
}

/** Says of contacts at steps whether publishing the draft can move them. */
export function withMatches(counts: readonly AtStep[], draft: unknown): StepCount[] {
  const { definition } = parseDefinition(draft);
  const typeOf = new Map(definition?.steps.map((step) => [step.id, step.type]));
  return counts.map(({ type, journeyId: _, ...count }) => ({ ...count, hasMatch: typeOf.get(count.stepId) === type }));
}

const OF_EARLIER = `
  SELECT e.id, e.visit, e.step_id, e.arrived_at FROM enrollments e
  WHERE e.journey_id = $1 AND e.version < $2 AND e.ended_at IS NULL FOR UPDATE`;

const logged = (leaving: string) => `
  INSERT INTO enrollment_steps (enrollment_id, visit, step_id, arrived_at, outcome)
  SELECT id, visit, step_id, arrived_at, 'new_version' FROM ${leaving}`;

const END = `
  WITH earlier AS (${OF_EARLIER}), logged AS (${logged('earlier')})
  UPDATE enrollments e SET visit = e.visit + 1, status = 'exited', ended_at = now(), end_reason = 'new_version', due_at = NULL,
    waits_for = NULL FROM earlier WHERE e.id = earlier.id`;

/**
 * Moves runs to the step of the same id and type. A wait keeps its time, and a call continues. A wait for an event that had no timeout, or
 * has none now, follows the new version, so that nobody waits forever or runs out of a time that no longer exists.
 */
const MOVE = `
  WITH matching AS (
    SELECT step ->> 'id' AS id, step ->> 'event' AS event, (step ->> 'timeoutMs')::float8 * interval '1 millisecond' AS timeout,
      old.number AS version
    FROM jsonb_array_elements($3::jsonb) AS step
    JOIN journey_versions old ON old.journey_id = $1 AND old.number < $2
    JOIN LATERAL jsonb_array_elements(old.definition -> 'steps') AS before
      ON before ->> 'id' = step ->> 'id' AND before ->> 'type' = step ->> 'type'
  ), earlier AS (
    SELECT e.id, e.visit, e.step_id, e.arrived_at, m.event, m.timeout FROM enrollments e
      JOIN matching m ON m.id = e.step_id AND m.version = e.version
     WHERE e.journey_id = $1 AND e.version < $2 AND e.ended_at IS NULL FOR UPDATE OF e
  ), logged AS (${logged('earlier')}), carried AS (
    UPDATE journey_calls c SET visit = c.visit + 1 FROM earlier WHERE c.enrollment_id = earlier.id AND c.visit = earlier.visit
  )
  UPDATE enrollments e SET visit = e.visit + 1, version = $2, waits_for = earlier.event,
    due_at = CASE
      WHEN earlier.event IS NULL OR e.due_at <= now() THEN e.due_at
      WHEN earlier.timeout IS NOT NULL THEN coalesce(e.due_at, now() + earlier.timeout)
    END
  FROM earlier WHERE e.id = earlier.id`;

/** Runs per statement. */
const PAGE = 5_000;

const WAITING = `
  SELECT id, contact_id AS "contactId", entered_at AS "enteredAt" FROM enrollments
  WHERE journey_id = $1 AND version = $2 AND step_id = $3 AND ended_at IS NULL AND id > $4 ORDER BY id LIMIT ${PAGE}`;

/** Makes runs due whose contacts have already caused the event that a new version waits for: nothing else would end their wait. */
async function endWaits(
  tx: Tx,
  { id, projectId, number, definition }: { id: string; projectId: string; number: number; definition: Definition },
): Promise<void> {
  for (const step of definition.steps) {
    if (step.type !== 'wait_for_event' || step.since === 'step') continue;
    for (let last = ''; ;) {
      const runs = await sql<{ id: string; contactId: string; enteredAt: Date }>(tx, WAITING, [
        id,
        number,
        step.id,
        last,
      ]);
      const seen = await eventsSince(
        tx,
        projectId,
        runs.map((run) => ({ ...run, definition, step })),
      );
      const due = runs.filter((_, index) => seen[index]).map((run) => run.id);
      if (due.length > 0) await sql(tx, 'UPDATE enrollments SET due_at = now() WHERE id = ANY ($1)', [due]);
      if (runs.length < PAGE) break;
      last = runs.at(-1)?.id as string;
    }
  }
}

/** Applies a new version to contacts on earlier ones. Those whose step it does not have finish on theirs. */
export async function moveToVersion(
  tx: Tx,
  version: { id: string; projectId: string; number: number; definition: Definition; inProgress: InProgress },
): Promise<void> {
  const { id, number, definition, inProgress } = version;
  if (inProgress === 'exit') await sql(tx, END, [id, number]);
  if (inProgress !== 'move') return;
  const steps = definition.steps.map((step) =>
    step.type === 'wait_for_event' && step.timeout !== undefined
      ? { ...step, timeoutMs: durationMs(step.timeout) }
      : step,
  );
  await sql(tx, MOVE, [id, number, JSON.stringify(steps)]);
  await endWaits(tx, version);
}
