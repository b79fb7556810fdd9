import type { Definition, StepOf } from '@postroom/journey-definition';
import { announce, pool, sql } from '@postroom/platform';
import { describeResponse } from '@postroom/webhooks';
import { JOURNEYS } from './journeys.ts';
import type { DueRun, Plan } from './plan.ts';
import type { Move, Run } from './transitions.ts';

interface Closed {
  enrollmentId: string;
  acknowledged: boolean;
  status: number | null;
  error: string | null;
}

const CLOSED = `
  SELECT c.enrollment_id AS "enrollmentId", c.acknowledged, c.status, c.error
  FROM unnest($1::text[], $2::int[]) AS n(id, visit)
  JOIN journey_calls c ON c.enrollment_id = n.id AND c.visit = n.visit AND c.next_attempt_at IS NULL AND c.acknowledged IS NOT NULL`;

const INSERT = `
  INSERT INTO journey_calls (id, enrollment_id, visit, step_id, project_id, url, host, next_attempt_at)
  SELECT n.id || '.' || n.visit, n.id, n.visit, $3, $4, $5, $6, now() FROM unnest($1::text[], $2::int[]) AS n(id, visit)
  ON CONFLICT (enrollment_id, visit) DO NOTHING`;

/** The lock comes first: a call that is closed at the same moment is then seen here, or makes the run due after this. */
const LOCK = `SELECT FROM enrollments WHERE id = ANY ($1) ORDER BY id FOR UPDATE`;
const WAIT = `
  UPDATE enrollments e SET due_at = CASE WHEN EXISTS (
      SELECT FROM journey_calls c WHERE c.enrollment_id = e.id AND c.visit = e.visit AND c.next_attempt_at IS NULL) THEN now() END
  FROM unnest($1::text[], $2::int[]) AS n(id, visit) WHERE e.id = n.id AND e.visit = n.visit AND e.ended_at IS NULL`;

/**
 * Plans the calls of a URL. Runs whose call has ended go on; for the others a call is queued, and they wait for it: `callHost` makes
 * them due again. So no page waits for a response.
 */
export async function webhookStep(
  projectId: string,
  definition: Definition,
  step: StepOf<'webhook'>,
  runs: readonly DueRun[],
): Promise<Plan> {
  const { rows } = await pool.query<Closed>(CLOSED, [runs.map(({ id }) => id), runs.map(({ visit }) => visit)]);
  const closed = new Map(rows.map((row) => [row.enrollmentId, row]));
  const calling = runs.filter(({ id }) => !closed.has(id));
  const onFailure = step.onFailure === undefined ? step.next : step.onFailure;
  const moves = runs.flatMap((run): Move[] => {
    const call = closed.get(run.id);
    if (call === undefined) return [];
    const to = (call.acknowledged ? step.next : onFailure) ?? null;
    return [
      { run, definition, outcome: call.acknowledged ? 'called' : 'call_failed', detail: describeResponse(call), to },
    ];
  });
  if (calling.length === 0) return { moves, postponed: [] };
  const ids = calling.map(({ id }) => id);
  const visits = calling.map(({ visit }) => visit);
  return {
    moves,
    postponed: [],
    apply: async (tx) => {
      await sql(tx, LOCK, [ids]);
      await sql(tx, INSERT, [ids, visits, step.id, projectId, step.url, new URL(step.url).host]);
      await sql(tx, WAIT, [ids, visits]);
      await announce(tx, JOURNEYS);
    },
  };
}

/** What a step of a run got from the URL that it called last. */
interface Response {
  status: number | null;
  body: unknown;
}

const RESPONSES = `
  SELECT DISTINCT ON (enrollment_id, step_id) enrollment_id AS id, step_id AS "stepId", status, body FROM journey_calls
  WHERE enrollment_id = ANY ($1) AND next_attempt_at IS NULL ORDER BY enrollment_id, step_id, visit DESC`;

/** The responses that steps of the runs got, as templates and conditions read them: `steps.<id>.body.coupon`. */
export async function responsesOf(
  definition: Definition,
  runs: readonly Run[],
): Promise<(run: Run) => Record<string, Response>> {
  if (!definition.steps.some(({ type }) => type === 'webhook')) return () => ({});
  const { rows } = await pool.query<Response & { id: string; stepId: string }>(RESPONSES, [runs.map(({ id }) => id)]);
  const byRun = Map.groupBy(rows, ({ id }) => id);
  return ({ id }) =>
    Object.fromEntries((byRun.get(id) ?? []).map(({ stepId, status, body }) => [stepId, { status, body }]));
}
