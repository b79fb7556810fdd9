import { availableParallelism } from 'node:os';
import { config, inTransaction, newId, pool } from '@postroom/platform';
import { eventually, startReceiver, startTestWorker } from '@postroom/testkit';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEndpoint } from '../src/endpoints.ts';
import { ALL_DELIVERIES, CLAIM_FIRST_ATTEMPTS, CLAIM_RETRIES, READ_DUE_RETRIES, READ_WAITING } from '../src/queue.ts';
import { POLICY } from '../src/policy.ts';

const WAITING = 50_000;

let client: Client;
beforeAll(async () => {
  await startTestWorker();
  client = new Client({ connection: await Connection.connect({ address: config.TEMPORAL_ADDRESS }) });
});
afterAll(() => client.connection.close());

/** An endpoint with this many waiting deliveries. */
async function backlog(
  url: string,
  { enabled, waiting = WAITING }: { enabled: boolean; waiting?: number },
): Promise<string> {
  const projectId = newId('prj');
  await pool.query(`INSERT INTO projects (id, name) VALUES ($1, 'Test')`, [projectId]);
  const { id } = await createEndpoint(projectId, { url, events: ['*'] });
  await inTransaction(async (tx) => {
    await tx.query(
      `INSERT INTO events (id, project_id, type, data)
       SELECT postroom_id('evt'), $1, 'email.sent', '{}' FROM generate_series(1, $2)`,
      [projectId, waiting],
    );
    await tx.query('UPDATE webhook_endpoints SET enabled = $2 WHERE id = $1', [id, enabled]);
  });
  return id;
}

/**
 * Ten fail before the endpoint counts as degraded, up to ten are in flight by then, and one is a probe. Each test process
 * runs a dispatcher, and those that start at once may each claim the first ten.
 */
const MOST = 11 + 10 * Math.ceil(availableParallelism() * 1.5);

test('a hanging endpoint has few deliveries in flight and as few open workflows, however many are waiting', async () => {
  const receiver = await startReceiver(() => {});
  const endpointId = await backlog(receiver.url, { enabled: true });
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

/** Rows of deliveries that a statement reads, measured in a rolled-back transaction. */
async function reads(sql: string, values: unknown[]): Promise<{ whole: number; rows: number }> {
  const undone = new Error('undone');
  const read = { whole: 0, rows: 0 };
  await inTransaction(async (tx) => {
    // May include rows read by earlier statements of this connection.
    const counters = async () => {
      const { rows } = await tx.query<typeof read>(
        // Partitions of a few pages are read as a whole, as that is cheaper than by an index.
        `SELECT coalesce(sum(seq_scan) FILTER (WHERE pg_relation_size(relid) > 10 * 8192), 0)::int AS whole, sum(idx_tup_fetch)::int AS rows
         FROM pg_stat_xact_user_tables WHERE relname ~ '^deliveries_'`,
      );
      return rows[0] ?? { whole: 0, rows: 0 };
    };
    const before = await counters();
    await tx.query(sql, values);
    const after = await counters();
    read.whole = after.whole - before.whole;
    read.rows = after.rows - before.rows;
    throw undone;
  }).catch((error: unknown) => {
    if (error !== undone) throw error;
  });
  return read;
}

test('the cost of a dispatch round does not grow with the backlog', async () => {
  const endpointId = await backlog('https://example.com/', { enabled: false });
  // Some are done, so the in-flight count looks large but is small.
  await pool.query(
    `UPDATE deliveries d SET state = 'acknowledged', dispatched_at = now(), closed_at = now()
     FROM (SELECT id, row_number() OVER () AS n FROM deliveries WHERE endpoint_id = $1) AS numbered
     WHERE d.id = numbered.id AND n % 10 = 0`,
    [endpointId],
  );
  await pool.query('VACUUM ANALYZE deliveries');
  const later = await backlog('https://example.com/', { enabled: false, waiting: 20 });
  expect(await reads('SELECT max(created_at) FROM deliveries', [])).toMatchObject({ whole: 1 });
  const few = { whole: 0, rows: expect.toSatisfy((rows: number) => rows <= 5 * POLICY.batch.size) };
  expect(await reads(READ_WAITING, ['', ALL_DELIVERIES])).toEqual(few);
  for (const id of [endpointId, later])
    expect(await reads(CLAIM_FIRST_ATTEMPTS, [[id], [300], ['batch_test'], ALL_DELIVERIES])).toEqual(few);
}, 120_000);

test('the cost of dispatching retries follows what is due and taken, not what waits', async () => {
  const WAITING_RETRIES = 100_000;
  const dead = await backlog('https://example.com/', { enabled: false, waiting: WAITING_RETRIES });
  const well = await backlog('https://example.com/', { enabled: false, waiting: 20 });
  const retry = (endpointId: string, dueIn: string) =>
    pool.query(
      `UPDATE deliveries SET state = 'retried', attempt_count = 1, next_attempt_at = now() + ${dueIn} WHERE endpoint_id = $1`,
      [endpointId],
    );
  await retry(well, `interval '-1 second'`);
  // All are due, for the longest time; then none is.
  for (const dueIn of [`interval '-1 hour'`, `interval '1 hour'`]) {
    await retry(dead, dueIn);
    await pool.query('VACUUM ANALYZE deliveries');
    const atMost = (rows: number) => ({ whole: 0, rows: expect.toSatisfy((read: number) => read <= rows) });
    // Other tests' endpoints have rows too.
    expect(await reads(READ_DUE_RETRIES, ['', ALL_DELIVERIES])).toEqual(atMost(5 * POLICY.batch.size));
    expect(await reads(CLAIM_RETRIES, [[well], [20], ['batch_test'], ALL_DELIVERIES])).toEqual(atMost(100));
    expect(await reads(CLAIM_RETRIES, [[dead], [10], ['batch_test'], ALL_DELIVERIES])).toEqual(atMost(50));
    expect(await reads(CLAIM_RETRIES, [[dead, well], [10, 20], ['batch_test', 'batch_test'], ALL_DELIVERIES])).toEqual(
      atMost(150),
    );
  }
}, 120_000);

test('waiting retries of a dead endpoint delay neither first attempts nor retries of another', async () => {
  const [hanging, receiver] = [await startReceiver(() => {}), await startReceiver()];
  const dead = await backlog(hanging.url, { enabled: false, waiting: 100_000 });
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
  expect(rows[0]?.waiting).toBeGreaterThan(95_000);
  await pool.query('UPDATE webhook_endpoints SET enabled = false WHERE id = $1', [dead]);
  await Promise.all([hanging.close(), receiver.close()]);
}, 120_000);
