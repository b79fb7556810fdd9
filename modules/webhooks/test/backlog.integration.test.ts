import { availableParallelism } from 'node:os';
import { config, inTransaction, newId, pool } from '@postroom/platform';
import { eventually, startReceiver, startTestWorker } from '@postroom/testkit';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEndpoint } from '../src/endpoints.ts';
import { CLAIM_FIRST_ATTEMPTS, CLAIM_RETRIES, READ_WAITING } from '../src/queue.ts';
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
    const { rows } = await pool.query<{ in_hand: number; retrying: number }>(
      `SELECT count(*)::int AS in_hand, count(*) FILTER (WHERE state = 'retried')::int AS retrying FROM deliveries
       WHERE endpoint_id = $1 AND dispatched_at IS NOT NULL AND closed_at IS NULL`,
      [endpointId],
    );
    most = Math.max(most, rows[0]?.in_hand ?? 0);
    expect(rows[0]?.retrying).toBeGreaterThanOrEqual(10);
    expect(rows[0]?.retrying).toBe(rows[0]?.in_hand);
  }, 60_000);
  expect(most).toBeLessThanOrEqual(MOST);
  // Counts deliveries, not POSTs: on a busy machine a worker stalled for ten seconds counts as dead, and its batch is
  // posted again.
  expect(new Set(receiver.received.map(({ headers }) => headers['x-webhook-id'])).size).toBeLessThanOrEqual(MOST);
  const open = `endpointId = "${endpointId}" AND ExecutionStatus = "Running"`;
  await eventually(async () => expect((await client.workflow.count(open)).count).toBeGreaterThanOrEqual(10));
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
        `SELECT seq_scan::int AS whole, idx_tup_fetch::int AS rows FROM pg_stat_xact_user_tables WHERE relname = 'deliveries'`,
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
  // Some are done and many wait for a retry, so the in-flight count looks large but is small.
  await pool.query(
    `UPDATE deliveries d SET
       state = CASE WHEN n % 10 = 0 THEN 'acknowledged' ELSE 'retried' END::delivery_state,
       dispatched_at = CASE WHEN n % 10 = 0 THEN now() END,
       closed_at = CASE WHEN n % 10 = 0 THEN now() END
     FROM (SELECT id, row_number() OVER () AS n FROM deliveries WHERE endpoint_id = $1) AS numbered
     WHERE d.id = numbered.id AND n % 10 < 3`,
    [endpointId],
  );
  await pool.query('VACUUM ANALYZE deliveries');
  const later = await backlog('https://example.com/', { enabled: false, waiting: 20 });
  expect(await reads('SELECT max(created_at) FROM deliveries', [])).toMatchObject({ whole: 1 });
  const few = {
    whole: 0,
    rows: expect.toSatisfy((rows: number) => rows <= 3 * POLICY.dispatch.maxRetryingPerEndpoint),
  };
  expect(await reads(READ_WAITING, [''])).toEqual(few);
  for (const id of [endpointId, later])
    expect(await reads(CLAIM_FIRST_ATTEMPTS, [[id], [300], ['batch_test']])).toEqual(few);
  await pool.query('UPDATE webhook_endpoints SET enabled = true WHERE id = $1', [endpointId]);
  const again = await reads(CLAIM_RETRIES, [20, false]);
  await pool.query('UPDATE webhook_endpoints SET enabled = false WHERE id = $1', [endpointId]);
  expect(again).toEqual(few);
}, 120_000);
