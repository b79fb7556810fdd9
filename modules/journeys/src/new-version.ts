import { type Definition, durationMs, parseDefinition } from '@postroom/journey-definition';
import { pool, runCostly, sql, type Tx } from '@postroom/platform';
import { writeListeners } from './listeners.ts';
import { eventsSince } from './past-events.ts';

/** What happens to contacts that are on earlier versions when another one is published. */
export type InProgress = 'finish' | 'move' | 'exit';

/** Contacts that are at a step of a version. */
export interface StepCount {
  journeyId: string;
  version: number;
  stepId: string;
  contactCount: number;
  /** Whether the draft has a step with this id and type, to which they would be moved. */
  hasMatch: boolean;
}

const COUNT = `
  SELECT n.journey_id AS "journeyId", n.version, n.step_id AS "stepId", n.contacts AS "contactCount",
    (SELECT step ->> 'type' FROM journey_versions v, jsonb_array_elements(v.definition -> 'steps') AS step
      WHERE v.journey_id = n.journey_id AND v.number = n.version AND step ->> 'id' = n.step_id) AS type
  FROM (SELECT journey_id, version, step_id, sum(run_count)::int AS contacts FROM journey_run_counts
    WHERE journey_id = ANY ($1) AND version IS NOT NULL GROUP BY 1, 2, 3) AS n
  WHERE n.contacts > 0 ORDER BY n.version, n.step_id`;

/** The contacts that are at a step of a version, and the step's type. */
export interface AtStep extends Omit<StepCount, 'hasMatch'> {
  type: string;
}

/** Where the contacts of each of the project's journeys are. */
export async function countAtSteps(projectId: string, ids: readonly string[]): Promise<Map<string, AtStep[]>> {
  const { rows } = await runCostly(projectId, () => pool.query<AtStep>(COUNT, [ids]));
  return Map.groupBy(rows, ({ journeyId }) => journeyId);
}

const COUNT_DUE = `
  SELECT journey_id AS "journeyId", version, step_id AS "stepId", count(*)::int AS "dueCount" FROM enrollments
  WHERE journey_id = ANY ($1) AND status = 'active' AND due_at < now() + interval '1 day' GROUP BY journey_id, version, step_id`;

/** How many contacts at each step fall due within a day, by journey. */
export async function countDueWithinDay(
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, { version: number; stepId: string; dueCount: number }[]>> {
  const { rows } = await runCostly(projectId, () =>
    pool.query<{ journeyId: string; version: number; stepId: string; dueCount: number }>(COUNT_DUE, [ids]),
  );
  return Map.groupBy(rows, ({ journeyId }) => journeyId);
}

/** Says of contacts at steps whether publishing the draft can move them. */
export function withMatches(counts: readonly AtStep[], draft: unknown): StepCount[] {
  const { definition } = parseDefinition(draft);
  const typeOf = new Map(definition?.steps.map((step) => [step.id, step.type]));
  return counts.map(({ type, ...count }) => ({ ...count, hasMatch: typeOf.get(count.stepId) === type }));
}

const logged = `
  INSERT INTO enrollment_steps (enrollment_id, visit, step_id, arrived_at, outcome)
  SELECT id, visit, step_id, arrived_at, 'new_version' FROM earlier`;

/** Ends those of the runs `$1` that are on versions before `$2`. */
const END = `
  WITH earlier AS (
    SELECT id, visit, step_id, arrived_at FROM enrollments WHERE id = ANY ($1) AND version < $2 AND ended_at IS NULL FOR UPDATE
  ), logged AS (${logged})
  UPDATE enrollments e SET visit = e.visit + 1, status = 'exited', ended_at = now(), end_reason = 'new_version', due_at = NULL,
    waits_for = NULL FROM earlier WHERE e.id = earlier.id`;

/** Ends the runs `$1`, whatever their version. */
const END_ALL = `
  UPDATE enrollments SET visit = visit + 1, status = 'exited', ended_at = now(), end_reason = 'journey_archived', due_at = NULL,
    waits_for = NULL WHERE id = ANY ($1) AND ended_at IS NULL`;

/**
 * Moves those of the runs `$1` that are on versions of the journey `$4` before `$2` to the step of the same id and type. A wait keeps its
 * time, and a call continues. A wait for an event that had no timeout, or has none now, follows the new version, so that nobody waits
 * forever or runs out of a time that no longer exists.
 */
const MOVE = `
  WITH matching AS (
    SELECT step ->> 'id' AS id, step ->> 'event' AS event, (step ->> 'timeoutMs')::float8 * interval '1 millisecond' AS timeout,
      old.number AS version
    FROM jsonb_array_elements($3::jsonb) AS step
    JOIN journey_versions old ON old.journey_id = $4 AND old.number < $2
    JOIN LATERAL jsonb_array_elements(old.definition -> 'steps') AS before
      ON before ->> 'id' = step ->> 'id' AND before ->> 'type' = step ->> 'type'
  ), earlier AS (
    SELECT e.id, e.visit, e.step_id, e.arrived_at, m.event, m.timeout FROM enrollments e
      JOIN matching m ON m.id = e.step_id AND m.version = e.version
     WHERE e.id = ANY ($1) AND e.version < $2 AND e.ended_at IS NULL FOR UPDATE OF e
  ), logged AS (${logged}), carried AS (
    UPDATE journey_calls c SET visit = c.visit + 1 FROM earlier WHERE c.enrollment_id = earlier.id AND c.visit = earlier.visit
  )
  UPDATE enrollments e SET visit = e.visit + 1, version = $2, waits_for = earlier.event,
    due_at = CASE
      WHEN earlier.event IS NULL OR e.due_at <= now() THEN e.due_at
      WHEN earlier.timeout IS NOT NULL THEN coalesce(e.due_at, now() + earlier.timeout)
    END
  FROM earlier WHERE e.id = earlier.id
  RETURNING e.id, e.contact_id AS "contactId", e.step_id AS "stepId", e.entered_at AS "enteredAt"`;

interface MovedRun {
  id: string;
  contactId: string;
  stepId: string;
  enteredAt: Date;
}

/** What remains to be done to the runs of a journey. */
interface Unapplied {
  number: number;
  definition: Definition;
  change: 'move' | 'exit' | 'archive';
  /** The last contact, in the order of ids, whose run has been looked at; empty before the first. */
  appliedTo: string;
}

/** Runs per transaction. */
const PAGE = 5_000;

const FIRST_UNAPPLIED = `
  SELECT number, definition, unapplied AS change, applied_to AS "appliedTo" FROM journey_versions
  WHERE journey_id = $1 AND unapplied IS NOT NULL ORDER BY number LIMIT 1`;

/** Whether runs remain to which a publication, or the archiving, is still to be applied. Nobody takes a step until then. */
export async function isApplying(tx: Tx, id: string): Promise<boolean> {
  return (await sql(tx, FIRST_UNAPPLIED, [id])).length > 0;
}

const OPEN_RUNS = `
  SELECT id, contact_id AS "contactId" FROM enrollments
  WHERE journey_id = $1 AND contact_id > $2 AND ended_at IS NULL ORDER BY contact_id LIMIT ${PAGE}`;

/**
 * Does to a page of runs what the publication of a version, or the archiving, is to do to them, and has the journey listen to what its
 * runs then wait for. The caller has locked the journey.
 * @returns false if nothing was left.
 */
export async function applyToPage(tx: Tx, { id, projectId }: { id: string; projectId: string }): Promise<boolean> {
  const [version] = await sql<Unapplied>(tx, FIRST_UNAPPLIED, [id]);
  if (version === undefined) return false;
  const { number, definition, change, appliedTo } = version;
  const runs = await sql<{ id: string; contactId: string }>(tx, OPEN_RUNS, [id, appliedTo]);
  const ids = runs.map((run) => run.id);
  if (change === 'archive') await sql(tx, END_ALL, [ids]);
  if (change === 'exit') await sql(tx, END, [ids, number]);
  if (change === 'move') {
    const steps = definition.steps.map((step) =>
      step.type === 'wait_for_event' && step.timeout !== undefined
        ? { ...step, timeoutMs: durationMs(step.timeout) }
        : step,
    );
    const moved = await sql<MovedRun>(tx, MOVE, [ids, number, JSON.stringify(steps), id]);
    await endWaits(tx, { projectId, definition }, moved);
  }
  const isDone = runs.length < PAGE;
  await sql(
    tx,
    `UPDATE journey_versions SET unapplied = CASE WHEN NOT $3 THEN unapplied END, applied_to = $4
     WHERE journey_id = $1 AND number = $2`,
    [id, number, isDone, runs.at(-1)?.contactId ?? appliedTo],
  );
  if (change !== 'archive') await writeListeners(tx, { id, projectId });
  return true;
}

/** Makes runs due whose contacts have already caused the event that a new version waits for: nothing else would end their wait. */
async function endWaits(
  tx: Tx,
  { projectId, definition }: { projectId: string; definition: Definition },
  moved: readonly MovedRun[],
): Promise<void> {
  const stepOf = new Map(definition.steps.map((step) => [step.id, step]));
  const waiting = moved.flatMap((run) => {
    const step = stepOf.get(run.stepId);
    return step?.type === 'wait_for_event' && step.since !== 'step' ? [{ ...run, definition, step }] : [];
  });
  const seen = await eventsSince(tx, projectId, waiting);
  const due = waiting.filter((_, index) => seen[index]).map((run) => run.id);
  if (due.length > 0) await sql(tx, 'UPDATE enrollments SET due_at = now() WHERE id = ANY ($1)', [due]);
}
