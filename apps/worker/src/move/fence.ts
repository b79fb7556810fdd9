import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { runWithLock } from '../run-with-lock.ts';
import type { ProjectTable } from './tables.ts';

const RETRY_MS = 200;
const MAX_TRIES = 300;

/** Hits are recorded at any time, and late ones are moved at the end. Users are shared with other projects. */
const isFenced = ({ name }: ProjectTable) => name !== 'tracking_hits' && name !== 'users';

/**
 * Makes PostgreSQL refuse every change of the project's rows, whichever program attempts it. Creating a trigger waits for the transactions
 * that write to the table, so afterwards none is left that could still commit a change. Can be repeated.
 */
export async function fence(client: pg.ClientBase, projectId: string, tables: readonly ProjectTable[]): Promise<void> {
  for (const table of tables.filter(isFenced)) {
    const { name, where, isDirect } = table;
    const call = `EXECUTE FUNCTION refuse_moving_project('${projectId}'${isDirect ? '' : `, ${pg.escapeLiteral(where)}`})`;
    const when = (row: string) => (isDirect ? `WHEN (${row}.project_id = '${projectId}')` : '');
    await runWithLock(client, [
      `CREATE OR REPLACE TRIGGER ${trigger('in', projectId)} BEFORE INSERT OR UPDATE ON ${name} FOR EACH ROW ${when('NEW')} ${call}`,
      `CREATE OR REPLACE TRIGGER ${trigger('out', projectId)} BEFORE DELETE ON ${name} FOR EACH ROW ${when('OLD')} ${call}`,
    ]);
  }
}

/** Removes the fence. Can be repeated. */
export async function removeFence(
  client: pg.ClientBase,
  projectId: string,
  tables: readonly ProjectTable[],
): Promise<void> {
  for (const { name } of tables.filter(isFenced))
    await runWithLock(
      client,
      (['in', 'out'] as const).map((on) => `DROP TRIGGER IF EXISTS ${trigger(on, projectId)} ON ${name}`),
    );
}

/** First in alphabetical order, so that it runs before the others. */
const trigger = (on: 'in' | 'out', projectId: string) => `a_moving_${on}_${projectId}`;

/** Whether all transactions of this database before `$1` have ended. The other cell's, such as the mover's own, may be on the same server. */
const HAVE_ENDED = `
  SELECT NOT EXISTS (
    SELECT FROM pg_snapshot_xip(pg_current_snapshot()) AS running (xact)
    WHERE running.xact < $1::xid8 AND NOT EXISTS (
      SELECT FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.transactionid = running.xact::xid
        AND a.datname <> current_database())) AS over`;

/** Waits until no transaction is open that could have inserted hits without knowing that the project has moved. */
export async function waitForOlderTransactions(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ now: string }>('SELECT pg_current_xact_id()::text AS now');
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const { rows: found } = await client.query<{ over: boolean }>(HAVE_ENDED, [rows[0]?.now]);
    if (found[0]?.over === true) return;
    await sleep(RETRY_MS);
  }
  throw new Error('A transaction that began before the switch is still open. Run the command again once it has ended.');
}
