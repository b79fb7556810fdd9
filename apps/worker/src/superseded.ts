import { logger, pool } from '@postroom/platform';
import pg from 'pg';
import { runWithLock } from './run-with-lock.ts';

/** First in alphabetical order, so that it runs before the others. */
const TRIGGER = 'a_superseded';

/** Those that readers need, and whose rows are of no use to the database that has taken over; and our own, which the mark is in. */
const OPEN_TABLES = `'{installation, sending_reservations, leases, shared_rates, shared_slots, sessions, sign_in_failures, sign_in_rates,
  verifications}'`;

/** For about ten seconds. A worker that starts tries again. */
const MAX_TRIES = 20;

const TABLES = `SELECT oid::regclass::text AS "table" FROM pg_class c
  WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`;
const HAS_TRIGGER = `EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND tgname = '${TRIGGER}'`;

/**
 * Makes PostgreSQL refuse every change, whichever program attempts it, for as long as sending is held for this reason. Creating a trigger waits
 * for the transactions that write to the table, so afterwards none is left that could still commit a change. Can be repeated.
 */
export async function fenceSuperseded(reason: string): Promise<void> {
  const isFenced = `${HAS_TRIGGER} AND tgargs = convert_to($1, 'UTF8') || '\\x00'::bytea)`;
  const tables = await changeTables(
    `${TABLES} AND relname <> ALL (${OPEN_TABLES}) AND NOT ${isFenced} ORDER BY relname <> 'messages'`, // mail first
    [reason],
    (table) => `CREATE OR REPLACE TRIGGER ${TRIGGER} BEFORE INSERT OR UPDATE OR DELETE ON ${table}
      FOR EACH ROW EXECUTE FUNCTION refuse_superseded(${pg.escapeLiteral(reason)})`,
  );
  if (tables > 0) logger.error({ reason, tables }, 'this database no longer accepts changes');
}

/** Removes the triggers once they no longer have an effect. */
export const dropFence = (): Promise<number> =>
  changeTables(`${TABLES} AND ${HAS_TRIGGER})`, [], (table) => `DROP TRIGGER IF EXISTS ${TRIGGER} ON ${table}`);

/** Each table in its own transaction, so that one whose lock is not available keeps none of the others waiting. */
async function changeTables(find: string, values: unknown[], change: (table: string) => string): Promise<number> {
  const { rows } = await pool.query<{ table: string }>(find, values);
  const results = await Promise.allSettled(
    rows.map(async ({ table }) => {
      const client = await pool.connect();
      await runWithLock(client, [change(table)], MAX_TRIES).finally(() => client.release());
    }),
  );
  const failed = results.filter((result) => result.status === 'rejected');
  if (failed.length > 0) logger.warn({ err: failed[0]?.reason, tables: failed.length }, 'could not change triggers');
  return rows.length - failed.length;
}
