import { availableParallelism } from 'node:os';
import { pool } from '@postroom/platform';
import { eventually, startReceiver, startTestWorker, temporalClient } from '@postroom/testkit';
import { beforeAll, expect, test } from 'vitest';
import { backlog } from './waiting-deliveries.ts';

const WAITING = 20_000;

beforeAll(startTestWorker);
const client = await temporalClient();

/**
 * Ten fail before the endpoint counts as degraded, up to ten are in flight by then, and one is a probe. Each test process
 * runs a dispatcher, and those that start at once may each claim the first ten.
 */
const MOST = 11 + 10 * Math.ceil(availableParallelism() * 1.5);

test('a hanging endpoint has few deliveries in flight and as few open workflows, however many are waiting', async () => {
  const receiver = await startReceiver(() => {});
  const endpointId = await backlog(receiver.url, { enabled: true, waiting: WAITING });
  let most = 0;
  await eventually(async () => {
    const { rows } = await pool.query<{ tried: number; in_flight: number; retrying: number }>(
      `SELECT count(*) FILTER (WHERE state = 'retried' OR dispatched_at IS NOT NULL)::int AS tried,
         count(*) FILTER (WHERE dispatched_at IS NOT NULL AND next_attempt_at <= now())::int AS in_flight,
         count(*) FILTER (WHERE state = 'retried')::int AS retrying
       FROM deliveries WHERE endpoint_id = $1 AND closed_at IS NULL`,
      [endpointId],
    );
    most = Math.max(most, rows[0]?.tried ?? 0);
    expect(rows[0]?.retrying).toBeGreaterThanOrEqual(10);
    expect(rows[0]?.in_flight).toBe(0);
  }, 60_000);
  expect(most).toBeLessThanOrEqual(MOST);
  // Counts deliveries, not POSTs: on a busy machine a worker stalled for ten seconds counts as dead, and its batch is
  // posted again.
  expect(new Set(receiver.received.map(({ headers }) => headers['x-webhook-id'])).size).toBeLessThanOrEqual(MOST);
  const open = `endpointId = "${endpointId}" AND ExecutionStatus = "Running"`;
  expect((await client.workflow.count(open)).count).toBeLessThanOrEqual(MOST + 1);
  await receiver.close();
}, 120_000);

test('waiting retries of a dead endpoint delay neither first attempts nor retries of another', async () => {
  const [hanging, receiver] = [await startReceiver(() => {}), await startReceiver()];
  const dead = await backlog(hanging.url, { enabled: false, waiting: WAITING });
  await pool.query(
    `UPDATE deliveries SET state = 'retried', attempt_count = 1, next_attempt_at = now() - interval '1 hour' WHERE endpoint_id = $1`,
    [dead],
  );
  await pool.query(
    'UPDATE webhook_endpoints SET enabled = true, failures_in_row = 100000, failing_since = now() WHERE id = $1',
    [dead],
  );
  const well = await backlog(receiver.url, { enabled: false, waiting: 40 });
  await pool.query(
    `UPDATE deliveries SET state = 'retried', attempt_count = 1, next_attempt_at = now() WHERE id IN (
       SELECT id FROM deliveries WHERE endpoint_id = $1 LIMIT 20)`,
    [well],
  );
  await eventually(() => expect(hanging.received.length).toBeGreaterThanOrEqual(10), 30_000);
  await pool.query('UPDATE webhook_endpoints SET enabled = true WHERE id = $1', [well]);
  await eventually(async () => {
    const { rows } = await pool.query(
      `SELECT state, attempt_count FROM deliveries WHERE endpoint_id = $1 AND closed_at IS NOT NULL`,
      [well],
    );
    expect(rows.filter(({ state, attempt_count: count }) => state === 'acknowledged' && count === 1)).toHaveLength(20);
    expect(rows.filter(({ state, attempt_count: count }) => state === 'acknowledged' && count === 2)).toHaveLength(20);
  }, 30_000);
  // They were due an hour earlier, and nearly all of them still wait.
  const { rows } = await pool.query<{ in_flight: number; waiting: number }>(
    `SELECT count(*) FILTER (WHERE dispatched_at IS NOT NULL)::int AS in_flight,
       count(*) FILTER (WHERE dispatched_at IS NULL AND attempt_count = 1)::int AS waiting
     FROM deliveries WHERE endpoint_id = $1 AND closed_at IS NULL`,
    [dead],
  );
  expect(rows[0]?.in_flight).toBeLessThanOrEqual(MOST);
  expect(rows[0]?.waiting).toBeGreaterThan(WAITING * 0.95);
  await pool.query('UPDATE webhook_endpoints SET enabled = false WHERE id = $1', [dead]);
  await Promise.all([hanging.close(), receiver.close()]);
}, 120_000);
