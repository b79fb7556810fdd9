import { sql, type Tx } from '@postroom/platform';
import { isHere } from '@postroom/projects/sql';

/**
 * Reading every event once, although ids and times are made before a commit. Events have the number of their transaction, and those below
 * `pg_snapshot_xmin` have all ended. So a reader takes the events of ended transactions up to a number, and begins there the next time.
 */

/** The tables with the number of a reader per project, `xact`. */
type ReaderTable = 'statistics_progress' | 'event_exports';

/**
 * The projects with events that a reader has not taken, two probes of an index of each partition for each; and those whose number is of
 * another server.
 */
export const projectsWithEvents = (table: ReaderTable): string => `
  SELECT p.id FROM projects p LEFT JOIN ${table} s ON s.project_id = p.id
  WHERE ${isHere('p.id')} AND (s.xact > pg_snapshot_xmax(pg_current_snapshot())::text::bigint OR EXISTS (SELECT FROM events e WHERE e.project_id = p.id AND e.xact >= coalesce(s.xact, 0)
    AND e.xact < pg_snapshot_xmin(pg_current_snapshot())::text::bigint))`;

/** Whether `xact` is a number that this server has not reached: after a dump was loaded into it, transactions are numbered from the beginning. */
export const IS_FOREIGN = 'xact > pg_snapshot_xmax(pg_current_snapshot())::text::bigint';

/** The number that a reader of all events begins with. Those of a project that was moved here have numbers below 0. */
export const FIRST_TRANSACTION = 'least(0, (SELECT xact FROM events WHERE project_id = $1 ORDER BY xact LIMIT 1))';

/** What gives a project its row. Only looks up the first transaction if there is none. */
const START: Record<ReaderTable, string> = {
  statistics_progress: `
    INSERT INTO statistics_progress (project_id, xact) SELECT $1, ${FIRST_TRANSACTION}
    WHERE NOT EXISTS (SELECT FROM statistics_progress WHERE project_id = $1) ON CONFLICT DO NOTHING`,
  event_exports: `
    INSERT INTO event_exports (project_id, xact) SELECT $1, ${FIRST_TRANSACTION}
    WHERE NOT EXISTS (SELECT FROM event_exports WHERE project_id = $1) ON CONFLICT DO NOTHING`,
};

/**
 * Gives a project its row in `table`. Locks the project first, as foreign keys do, so that a deletion of it comes before or after, and
 * does not deadlock with the reader.
 * @returns false if the project was deleted after it was listed.
 */
export async function startReading(tx: Tx, table: ReaderTable, projectId: string): Promise<boolean> {
  const [project] = await sql(tx, 'SELECT id FROM projects WHERE id = $1 FOR KEY SHARE', [projectId]);
  if (project === undefined) return false;
  await sql(tx, START[table], [projectId]);
  return true;
}

/** All transactions before `xmin` have ended, and their events are visible to the statements that follow. */
const NEXT = `
  SELECT (CASE WHEN last < xmin THEN greatest(last, $2::bigint + 1) ELSE xmin END)::text AS until, coalesce(last < xmin, false) AS more
  FROM (SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS xmin, (
    SELECT xact FROM events WHERE project_id = $1 AND xact >= $2 ORDER BY xact OFFSET $3 LIMIT 1) AS last) AS found`;

/**
 * The transactions from `since` that have ended, or the first of them with about `limit` events, but at least one.
 * @returns the number they end before, and whether more have ended.
 */
export async function endedTransactions(
  tx: Tx,
  { projectId, since, limit }: { projectId: string; since: string; limit: number },
): Promise<{ until: string; more: boolean }> {
  const [next] = await sql<{ until: string; more: boolean }>(tx, NEXT, [projectId, since, limit]);
  return next as { until: string; more: boolean };
}
