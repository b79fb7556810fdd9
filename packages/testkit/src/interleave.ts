import { inTransaction, pool, sql, type Tx } from '@postroom/platform';
import { eventually } from './eventually.ts';

/**
 * Interleaves two transactions in an order that is rare otherwise: starts work while a transaction holds locks, and commits that
 * transaction once the work waits for it or has ended.
 * @param hold takes the locks.
 * @param change runs in the transaction that holds the locks, once the work waits.
 * @returns what the work returns.
 */
export async function interleave<T>(
  hold: (tx: Tx) => Promise<unknown>,
  work: () => Promise<T>,
  change: (tx: Tx) => Promise<unknown> = () => Promise.resolve(),
): Promise<T> {
  const working = await inTransaction(async (tx) => {
    await hold(tx);
    const [holder] = await sql<{ pid: number }>(tx, 'SELECT pg_backend_pid() AS pid');
    const started = work();
    let hasEnded = false;
    void started.catch(() => {}).finally(() => (hasEnded = true)); // its error is thrown below
    await eventually(async () => {
      const { rowCount } = await pool.query('SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))', [
        holder?.pid,
      ]);
      if (rowCount === 0 && !hasEnded) throw new Error('The work neither waits for the locks nor ends.');
    });
    await change(tx);
    return { started };
  });
  return working.started;
}
