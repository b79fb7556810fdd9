import { inTransaction, pool } from '@postroom/platform';
import { expect, test } from 'vitest';
import { POLICY } from '../src/policy.ts';
import { ALL_DELIVERIES, CLAIM_FIRST_ATTEMPTS, CLAIM_RETRIES, READ_DUE_RETRIES, READ_WAITING } from '../src/queue.ts';
import { backlog } from './waiting-deliveries.ts';

/** Several times the rows that a round may read. */
const WAITING = 25 * POLICY.batch.size;

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
  const endpointId = await backlog('https://example.com/', { enabled: false, waiting: WAITING });
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
  const dead = await backlog('https://example.com/', { enabled: false, waiting: WAITING });
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
