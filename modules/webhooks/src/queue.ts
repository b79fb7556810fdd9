import { pool } from '@postroom/platform';
import type { Take } from './plan.ts';

/** First attempts that one batch makes at most. A batch costs Temporal as much as a delivery alone, whatever is in it. */
export const BATCH_SIZE = 600;

/** Endpoints looked at in one round; the next one goes on after the last of them. */
const ENDPOINTS_PER_ROUND = 200;

/** Deliveries that wait for a retry in workflows; past this, others wait in the table until they are due. */
const RETRYING = 2_000;

/** Deliveries of one endpoint that wait for another attempt; past this, new ones wait for them. */
export const RETRYING_PER_ENDPOINT = 1_000;

/** A delivery that has just been marked as a workflow's. */
export interface Claimed {
  id: string;
  project_id: string;
  endpoint_id: string;
  event_type: string;
  workflow_id: string;
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
  in_hand: number;
  project_in_hand: number;
}

/** The functions are in a migration, which says why: deliveries are never read as a whole for this. */
export const READ_WAITING = `
  WITH in_hand AS MATERIALIZED (
    SELECT c.endpoint_id, c.count AS attempting, e.project_id
    FROM count_deliveries_in_flight() c LEFT JOIN webhook_endpoints e ON e.id = c.endpoint_id WHERE c.state = 'queued'
  ), in_hand_of_project AS MATERIALIZED (
    SELECT project_id, sum(attempting)::int AS attempting FROM in_hand GROUP BY project_id
  )
  SELECT w.endpoint_id, w.waiting, w.retrying, e.project_id, e.enabled, e.failures_in_row,
    coalesce(h.attempting, 0) AS attempting, (SELECT coalesce(sum(attempting), 0)::int FROM in_hand) AS in_hand,
    coalesce(p.attempting, 0) AS project_in_hand
  FROM read_waiting_deliveries($1, ${ENDPOINTS_PER_ROUND}, ${BATCH_SIZE}, ${RETRYING_PER_ENDPOINT}) w
  LEFT JOIN webhook_endpoints e ON e.id = w.endpoint_id
  LEFT JOIN in_hand h ON h.endpoint_id = w.endpoint_id
  LEFT JOIN in_hand_of_project p ON p.project_id = e.project_id
  ORDER BY w.endpoint_id`;

/**
 * Endpoints for which deliveries wait, from the one after `after` on: a round's worth, and the last of it if there may be
 * more (`''` when not).
 */
export async function readWaiting(after: string): Promise<{ endpoints: WaitingRow[]; inHand: number; last: string }> {
  const { rows } = await pool.query<WaitingRow>({
    name: 'webhooks-waiting',
    text: READ_WAITING,
    values: [after],
  });
  return {
    endpoints: rows.filter(({ enabled }) => enabled === true),
    inHand: rows[0]?.in_hand ?? 0,
    last: rows.length === ENDPOINTS_PER_ROUND ? (rows.at(-1)?.endpoint_id ?? '') : '',
  };
}

/** The id of a delivery's own workflow. Each id starts one workflow only, so one that was given back goes on under the next. */
const OWN_WORKFLOW_ID = `d.id || CASE WHEN d.returns = 0 THEN '' ELSE '.' || (d.returns + 1) END`;

/** PostgreSQL can't know that a claim is of few rows: told so by an array of ids, it looks them up instead of reading the table. */
const PICKED = 'd.id = ANY (ARRAY(SELECT id FROM picked)) AND d.id = picked.id';

/**
 * The endpoint is asked for as a range and the order begins with it, so that only its own index has that order. Asked for an
 * equal one in the order of ids, PostgreSQL would read the ids of all that waits, when nearly all is of another endpoint.
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
  WHERE ${PICKED} AND e.id = d.event_id
  RETURNING d.id, d.project_id, d.endpoint_id, d.workflow_id, e.type AS event_type`;

/** Marks the oldest deliveries of each endpoint as taken; two relays at once never take the same. */
export async function claimFirstAttempts(takes: readonly Take[]): Promise<Claimed[]> {
  if (takes.length === 0) return [];
  const { rows } = await pool.query<Claimed>({
    name: 'webhooks-claim',
    text: CLAIM_FIRST_ATTEMPTS,
    values: [takes.map(({ endpointId }) => endpointId), takes.map(({ take }) => take), takes.map(({ batch }) => batch)],
  });
  return rows;
}

export const CLAIM_RETRIES = `
  WITH room AS (
    SELECT coalesce(sum(count), 0) < ${RETRYING} AS is_left FROM count_deliveries_in_flight() WHERE state = 'retried'
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
  WHERE ${PICKED} AND e.id = d.event_id
  RETURNING d.id, d.project_id, d.endpoint_id, d.workflow_id, d.attempt_count, d.next_attempt_at,
    e.type AS event_type, last.status, last.error`;

/**
 * Marks deliveries that wait for another attempt as taken, those due first. Until they are due, they are taken only while
 * there is room for workflows that wait, and with `isBusy` only a moment before.
 */
export async function claimRetries(limit: number, { isBusy }: { isBusy: boolean }): Promise<ClaimedRetry[]> {
  const { rows } = await pool.query<ClaimedRetry>({
    name: 'webhooks-claim-retries',
    text: CLAIM_RETRIES,
    values: [limit, isBusy],
  });
  return rows;
}

/** Undoes a claim whose workflow did not start. */
export async function releaseClaim(ids: readonly string[]): Promise<void> {
  await pool.query(
    'UPDATE deliveries SET dispatched_at = NULL, workflow_id = NULL WHERE id = ANY ($1) AND closed_at IS NULL',
    [ids],
  );
}
