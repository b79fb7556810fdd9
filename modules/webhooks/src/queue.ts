import { pool } from '@postroom/platform';
import type { Take } from './plan.ts';
import { POLICY } from './policy.ts';

/** A delivery just claimed for a workflow. */
export interface Claimed {
  id: string;
  project_id: string;
  endpoint_id: string;
  event_type: string;
  workflow_id: string;
  /** Of the event. */
  traceparent?: string | null;
}

export interface ClaimedRetry extends Claimed {
  attempt_count: number;
  next_attempt_at: Date;
  status: number | null;
  error: string | null;
}

export interface WaitingRow {
  endpoint_id: string;
  project_id: string;
  enabled: boolean | null;
  waiting: number;
  failures_in_row: number;
  attempting: number;
  retrying: number;
  in_flight: number;
  project_in_flight: number;
}

/** Both functions are defined in a migration, which explains why: this must never scan all deliveries. */
export const READ_WAITING = `
  WITH in_flight AS MATERIALIZED (
    SELECT c.endpoint_id, c.count AS attempting, e.project_id
    FROM count_deliveries_in_flight() c LEFT JOIN webhook_endpoints e ON e.id = c.endpoint_id WHERE c.state = 'queued'
  ), in_flight_per_project AS MATERIALIZED (
    SELECT project_id, sum(attempting)::int AS attempting FROM in_flight GROUP BY project_id
  )
  SELECT w.endpoint_id, w.waiting, w.retrying, e.project_id, e.enabled, e.failures_in_row,
    coalesce(h.attempting, 0) AS attempting, (SELECT coalesce(sum(attempting), 0)::int FROM in_flight) AS in_flight,
    coalesce(p.attempting, 0) AS project_in_flight
  FROM read_waiting_deliveries($1, ${POLICY.dispatch.endpointsPerRound}, ${POLICY.batch.size}, ${POLICY.dispatch.maxRetryingPerEndpoint}) w
  LEFT JOIN webhook_endpoints e ON e.id = w.endpoint_id
  LEFT JOIN in_flight h ON h.endpoint_id = w.endpoint_id
  LEFT JOIN in_flight_per_project p ON p.project_id = e.project_id
  ORDER BY w.endpoint_id`;

/**
 * Reads one page of endpoints with waiting deliveries, after the endpoint id `after`. `last` is where the next page
 * starts, or `''` on the last page.
 */
export async function readWaiting(after: string): Promise<{ endpoints: WaitingRow[]; inFlight: number; last: string }> {
  const { rows } = await pool.query<WaitingRow>({
    name: 'webhooks-waiting',
    text: READ_WAITING,
    values: [after],
  });
  return {
    endpoints: rows.filter(({ enabled }) => enabled === true),
    inFlight: rows[0]?.in_flight ?? 0,
    last: rows.length === POLICY.dispatch.endpointsPerRound ? (rows.at(-1)?.endpoint_id ?? '') : '',
  };
}

/** The id of a delivery's own workflow. An id starts only one workflow, so a released delivery gets a new suffix. */
const OWN_WORKFLOW_ID = `d.id || CASE WHEN d.returns = 0 THEN '' ELSE '.' || (d.returns + 1) END`;

/**
 * PostgreSQL cannot estimate that a claim is small. An array of ids makes it use the primary key instead of a full
 * scan.
 */
const IS_PICKED = 'd.id = ANY (ARRAY(SELECT id FROM picked)) AND d.id = picked.id';

/**
 * The endpoint is matched as a range and leads the sort order, so that only its own index qualifies. With an equality
 * and ORDER BY id, PostgreSQL would walk the ids of all waiting deliveries when nearly all belong to another
 * endpoint.
 */
export const CLAIM_FIRST_ATTEMPTS = `
  WITH picked AS (
    SELECT d.id, taken.batch
    FROM unnest($1::text[], $2::int[], $3::text[]) AS taken(endpoint_id, take, batch)
    CROSS JOIN LATERAL (
      SELECT id FROM deliveries
      WHERE endpoint_id BETWEEN taken.endpoint_id AND taken.endpoint_id AND dispatched_at IS NULL AND state = 'queued'
      ORDER BY endpoint_id, id LIMIT taken.take FOR UPDATE SKIP LOCKED
    ) AS d
  )
  UPDATE deliveries d SET dispatched_at = now(), next_attempt_at = now(),
    workflow_id = coalesce(picked.batch, ${OWN_WORKFLOW_ID})
  FROM picked, events e
  WHERE ${IS_PICKED} AND e.id = d.event_id
  RETURNING d.id, d.project_id, d.endpoint_id, d.workflow_id, e.type AS event_type, e.traceparent`;

/**
 * Claims the oldest deliveries of each endpoint. SKIP LOCKED keeps concurrent dispatchers from claiming the same
 * ones.
 */
export async function claimFirstAttempts(takes: readonly Take[]): Promise<Claimed[]> {
  if (takes.length === 0) return [];
  const { rows } = await pool.query<Claimed>({
    name: 'webhooks-claim',
    text: CLAIM_FIRST_ATTEMPTS,
    values: [takes.map(({ endpointId }) => endpointId), takes.map(({ take }) => take), takes.map(({ batch }) => batch)],
  });
  return rows;
}

/** Due retries are the beginning of the partial index on `next_attempt_at`. */
export const CLAIM_RETRIES = `
  WITH room AS (
    SELECT coalesce(sum(count), 0) < ${POLICY.dispatch.maxRetrying} AS is_left FROM count_deliveries_in_flight() WHERE state = 'retried'
  ), picked AS (
    SELECT d.id FROM deliveries d JOIN webhook_endpoints w ON w.id = d.endpoint_id AND w.enabled
    WHERE d.dispatched_at IS NULL AND d.state = 'retried'
      AND d.next_attempt_at <= CASE WHEN NOT (SELECT is_left FROM room) THEN now()
        WHEN $2 THEN now() + interval '5 seconds' ELSE 'infinity' END
    ORDER BY d.next_attempt_at LIMIT $1 FOR UPDATE OF d SKIP LOCKED
  )
  UPDATE deliveries d SET dispatched_at = now(), workflow_id = ${OWN_WORKFLOW_ID}
  FROM picked JOIN LATERAL (
    SELECT status, error FROM attempts WHERE delivery_id = picked.id ORDER BY number DESC LIMIT 1
  ) AS last ON true, events e
  WHERE ${IS_PICKED} AND e.id = d.event_id
  RETURNING d.id, d.project_id, d.endpoint_id, d.workflow_id, d.attempt_count, d.next_attempt_at,
    e.type AS event_type, last.status, last.error`;

/**
 * Claims deliveries waiting for a retry, earliest due first. Before they are due, they are claimed only while there
 * is room for waiting workflows, and with `isBusy` only seconds ahead.
 */
export async function claimRetries(limit: number, { isBusy }: { isBusy: boolean }): Promise<ClaimedRetry[]> {
  const { rows } = await pool.query<ClaimedRetry>({
    name: 'webhooks-claim-retries',
    text: CLAIM_RETRIES,
    values: [limit, isBusy],
  });
  return rows;
}

/** Releases deliveries whose workflow did not start. */
export async function releaseClaim(ids: readonly string[]): Promise<void> {
  await pool.query(
    'UPDATE deliveries SET dispatched_at = NULL, workflow_id = NULL WHERE id = ANY ($1) AND closed_at IS NULL',
    [ids],
  );
}
