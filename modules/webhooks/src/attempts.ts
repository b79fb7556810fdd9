import { cleanText, coalesceByProject, pool } from '@postroom/platform';
import { recordHealth } from './health.ts';
import { elementOf, isIdWithin } from '@postroom/partitions/sql';
import { isHere } from '@postroom/projects/sql';
import { ATTEMPTED } from './subscription.ts';
import { POLICY } from './policy.ts';
import { type DueDelivery, type AttemptResult } from './make-attempt.ts';

export const LOAD = `
  SELECT d.id, d.endpoint_id, d.state, d.attempt_count, d.workflow_id,
    e.id AS event_id, e.type AS event_type, e.created_at AS event_created_at, e.project_id, e.data::text AS data, e.traceparent,
    w.url, w.enabled AND ${isHere('w.project_id')} AS enabled, w.secret, w.failures_in_row, w.failing_since IS NOT NULL AS failing,
    CASE WHEN w.previous_secret_expires_at > now() THEN w.previous_secret END AS previous_secret
  FROM unnest($1::text[]) WITH ORDINALITY AS wanted(id, position)
  JOIN deliveries d ON d.id = wanted.id
  JOIN events e ON e.id = d.event_id
  JOIN webhook_endpoints w ON w.id = d.endpoint_id
  ORDER BY wanted.position`;

/** Loads the deliveries that exist, in the order of `ids`. The previous secret is included while it is valid. */
export async function loadDeliveries(ids: readonly string[]): Promise<DueDelivery[]> {
  const { rows } = await pool.query<DueDelivery>({ name: 'webhooks-load', text: LOAD, values: [ids] });
  return rows;
}

/** SQL of the value for the attempt of the delivery `d`: the element of a parameter, which has the order of the sorted ids. */
const attemptValue = (parameter: string) => elementOf(parameter, '$1::text[]', 'd.id');
const STATE = attemptValue('$10::text[]');
const IS_REQUEUED = `$12 AND ${STATE} = 'retried'`;

/**
 * Finds deliveries by primary key, in the partitions of their ids. A join with what is recorded would choose partitions while rows are
 * being changed (see `@postroom/partitions/sql`).
 */
export const RECORD = `
  WITH recorded AS (
    SELECT * FROM unnest($1::text[], $3::timestamptz[], $4::int[], $5::int[], $6::text[], $7::text[], $8::text[], $9::text[])
      AS recorded(id, started_at, duration_ms, status, error, response, headers, workflow_id)
  ), updated AS (
    UPDATE deliveries d SET
      attempt_count = d.attempt_count + 1,
      state = ${STATE}::delivery_state,
      closed_at = CASE WHEN ${STATE} <> 'retried' THEN now() END,
      next_attempt_at = now() + ${attemptValue('$11::float[]')} * interval '1 millisecond',
      dispatched_at = CASE WHEN ${IS_REQUEUED} THEN NULL ELSE d.dispatched_at END,
      workflow_id = CASE WHEN ${IS_REQUEUED} THEN NULL ELSE d.workflow_id END
    WHERE d.id = ANY ($1) AND ${isIdWithin('d.id', '$13', '$14')}
      AND d.attempt_count = ${attemptValue('$2::int[]')} - 1 AND d.closed_at IS NULL
    RETURNING d.id, d.project_id, d.endpoint_id, d.state, d.attempt_count AS number
  ), counted AS (
    INSERT INTO webhook_endpoint_hours AS h (endpoint_id, hour, acknowledged, failed)
    SELECT updated.endpoint_id, date_trunc('hour', recorded.started_at, 'UTC'),
      count(*) FILTER (WHERE updated.state = 'acknowledged'), count(*) FILTER (WHERE updated.state <> 'acknowledged')
    FROM recorded JOIN updated ON updated.id = recorded.id
    -- Always locked in this order, so that concurrent batches cannot deadlock.
    GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (endpoint_id, hour)
    DO UPDATE SET acknowledged = h.acknowledged + excluded.acknowledged, failed = h.failed + excluded.failed
  ), written AS (
    INSERT INTO attempts (delivery_id, project_id, number, started_at, duration_ms, status, error, response, headers, workflow_id)
    SELECT recorded.id, updated.project_id, updated.number, recorded.started_at, recorded.duration_ms, recorded.status, recorded.error, recorded.response, recorded.headers::json, recorded.workflow_id
    FROM recorded JOIN updated ON updated.id = recorded.id
  )
  SELECT pg_notify('postroom', '${ATTEMPTED} ' || project_id || ' ' || string_agg(id, ' ')),
    CASE WHEN $12 THEN pg_notify('postroom', 'deliveries') END
  FROM updated GROUP BY project_id`;

/**
 * Updates endpoint health, then writes the attempts, their hourly counts and the new state of their deliveries in one
 * statement. With `requeue`, deliveries due for a retry go back to the dispatcher. An attempt whose number another worker has already
 * written is dropped.
 */
export async function recordAttempts(made: readonly AttemptResult[], { requeue }: { requeue: boolean }): Promise<void> {
  if (made.length === 0) return;
  const disableFailing = await recordHealth(made);
  const attempts = made.toSorted((a, b) => (a.delivery.id < b.delivery.id ? -1 : 1));
  const ids = attempts.map(({ delivery }) => delivery.id);
  await pool.query({
    name: 'webhooks-record',
    text: RECORD,
    values: [
      ids,
      attempts.map(({ number }) => number),
      attempts.map(({ startedAt }) => startedAt),
      attempts.map(({ response }) => response.durationMs),
      attempts.map(({ response }) => response.status),
      attempts.map(({ response }) => response.error),
      attempts.map(({ response }) => cleanText(response.body)),
      attempts.map(({ headers }) => JSON.stringify(headers)),
      attempts.map(({ delivery }) => delivery.workflow_id),
      attempts.map(stateAfter),
      attempts.map(({ delayMs }) => delayMs ?? null),
      requeue,
      ids[0],
      ids.at(-1),
    ],
  });
  await disableFailing();
}

/** The state of a delivery after an attempt. */
const stateAfter = ({ acknowledged, delayMs }: AttemptResult): DueDelivery['state'] =>
  acknowledged ? 'acknowledged' : delayMs === undefined ? 'failed' : 'retried';

/** Records an attempt together with others of its project: fifty requests that hang end at the same time, and would take all connections. */
export const recordAttempt = coalesceByProject(
  ({ delivery }: AttemptResult) => delivery.project_id,
  (attempts) => recordAttempts(attempts, { requeue: false }).then(() => attempts),
);

/**
 * Releases deliveries from their workflow to the table, where the dispatcher finds them while their endpoint is
 * enabled. If it is disabled, no next attempt is scheduled, so the dispatcher need not read them.
 */
export async function releaseDeliveries(ids: readonly string[], { enabled }: { enabled: boolean }): Promise<void> {
  if (ids.length === 0) return;
  await pool.query(
    `WITH back AS (
       UPDATE deliveries SET dispatched_at = NULL, workflow_id = NULL,
         -- A workflow id can be used only once, so the next one is numbered by this count.
         returns = returns + CASE WHEN starts_with(workflow_id, id) THEN 1 ELSE 0 END,
         next_attempt_at = CASE WHEN $2 THEN least(next_attempt_at, now()) END
       WHERE id = ANY ($1) AND closed_at IS NULL
     ) SELECT pg_notify('postroom', 'deliveries')`,
    [ids, enabled],
  );
}

/**
 * Moves deliveries out of a batch that keeps failing: each continues in its own workflow, so that a bad one blocks no
 * other. They become due one after another, so that Temporal is not flooded.
 */
export async function splitBatch(batchId: string, ids: readonly string[]): Promise<void> {
  await pool.query(
    `WITH taken AS (
       UPDATE deliveries SET state = 'retried', own_workflow = true, dispatched_at = NULL, workflow_id = NULL,
         next_attempt_at = now() + array_position($1::text[], id) * interval '${POLICY.dispatch.splitIntervalMs} milliseconds'
       WHERE id = ANY ($1) AND workflow_id = $2 AND closed_at IS NULL
     ) SELECT pg_notify('postroom', 'deliveries')`,
    [ids, batchId],
  );
}

/** Fails a delivery without another attempt. Past attempts are kept. */
export async function failDelivery(id: string): Promise<void> {
  await pool.query(
    `UPDATE deliveries SET state = 'failed', closed_at = now(), next_attempt_at = NULL WHERE id = $1 AND closed_at IS NULL`,
    [id],
  );
}
