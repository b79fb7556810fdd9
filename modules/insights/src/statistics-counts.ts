import { deleteInBatches, inTransaction, pool, sql, type Tx } from '@postroom/platform';
import {
  endedTransactions,
  FIRST_TRANSACTION,
  IS_FOREIGN,
  projectsWithEvents,
  startReading,
} from './ended-transactions.ts';

/**
 * The events that statistics count are added up per quarter of an hour, in the background and each once. What is not counted yet is read
 * by the statistics themselves, which are therefore exact at any time.
 */

/** The event types of statistics, by the field that counts them. */
export const COUNTED_EVENTS = {
  sent: 'email.sent',
  delivered: 'email.delivered',
  bounced: 'email.bounced',
  complained: 'email.complained',
  rejected: 'email.rejected',
  failed: 'email.failed',
  unsubscribed: 'contact.unsubscribed',
  added: 'contact.created',
} as const;

/** The length of what is counted together, in milliseconds: every time zone is a multiple of it away from UTC. */
export const QUARTER_MS = 900_000;

/** Events that a transaction counts: they take it about a third of a second. */
const CHUNK = 200_000;

const LOCK = `
  SELECT xact::text AS since, ${IS_FOREIGN} AS "isForeign"
  FROM statistics_progress WHERE project_id = $1 FOR UPDATE SKIP LOCKED`;

const COUNT = `
  INSERT INTO statistics_counts AS c (project_id, at, kind, number)
  SELECT $1, date_bin('15 minutes', created_at, 'epoch'), type, count(*) FROM events
  WHERE project_id = $1 AND xact >= $2 AND xact < $3 AND type = ANY ($4) GROUP BY 2, 3
  ON CONFLICT (project_id, at, kind) DO UPDATE SET number = c.number + excluded.number`;

const START_OVER = `UPDATE statistics_progress SET xact = ${FIRST_TRANSACTION} WHERE project_id = $1`;
const FINISH = 'UPDATE statistics_progress SET xact = $2 WHERE project_id = $1';

/** Counts the events of all projects that have not been counted. Processes that do so at once count different projects. */
export async function countEvents(): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(projectsWithEvents('statistics_progress'));
  for (const { id } of rows) while (await countChunk(id));
}

/** @returns whether there may be more. */
async function countChunk(projectId: string): Promise<boolean> {
  return inTransaction(async (tx) => {
    if (!(await startReading(tx, 'statistics_progress', projectId))) return false;
    const [progress] = await sql<{ since: string; isForeign: boolean }>(tx, LOCK, [projectId]);
    if (progress === undefined) return false; // another process counts
    if (progress.isForeign) return startOver(tx, projectId);
    const { until, more } = await endedTransactions(tx, { projectId, since: progress.since, limit: CHUNK });
    await sql(tx, COUNT, [projectId, progress.since, until, Object.values(COUNTED_EVENTS)]);
    await sql(tx, FINISH, [projectId, until]);
    return more;
  });
}

/** After a dump has been loaded into another server, transactions have numbers from the beginning again. */
async function startOver(tx: Tx, projectId: string): Promise<boolean> {
  await sql(tx, `DELETE FROM statistics_counts WHERE project_id = $1 AND kind = ANY ($2)`, [
    projectId,
    Object.values(COUNTED_EVENTS),
  ]);
  await sql(tx, START_OVER, [projectId]);
  return false;
}

/** How long counts are kept, in days: as far as the longest series reaches. */
const KEPT_DAYS = 401;
const BATCH = 5_000;
/** A probe of the primary key per project. */
const DELETE = `
  DELETE FROM statistics_counts WHERE (project_id, at, kind) IN (
    SELECT old.project_id, old.at, old.kind FROM projects p CROSS JOIN LATERAL (
      SELECT project_id, at, kind FROM statistics_counts
      WHERE project_id = p.id AND at < now() - $1::int * interval '1 day' LIMIT ${BATCH}) AS old LIMIT ${BATCH})`;

/** Deletes counts that no series can reach. @returns their number. */
export async function deleteOld({ onBatch }: { onBatch: () => void }): Promise<Record<string, number>> {
  return { statisticsCounts: await deleteInBatches(DELETE, [KEPT_DAYS], { batch: BATCH, onBatch }) };
}
