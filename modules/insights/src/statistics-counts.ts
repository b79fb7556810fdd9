import { deleteInBatches, inTransaction, pool, sql } from '@postroom/platform';

/**
 * The events that statistics count are added up per quarter of an hour, in the background and each once. Events have the number of
 * their transaction: a run counts those of all transactions that have ended, up to one of them, and the next run begins there. What is
 * not counted yet is read by the statistics themselves, which are therefore exact at any time.
 */

/** The event types of statistics, by the field that counts them. */
export const COUNTED_EVENTS = {
  sent: 'email.sent',
  delivered: 'email.delivered',
  bounced: 'email.bounced',
  complained: 'email.complained',
  failed: 'email.failed',
  unsubscribed: 'contact.unsubscribed',
  added: 'contact.created',
} as const;

/** The length of what is counted together, in milliseconds: every time zone is a multiple of it away from UTC. */
export const QUARTER_MS = 900_000;

/** Events that a transaction counts: they take it about a third of a second. */
const CHUNK = 200_000;

/** Two probes of an index of each partition per project. */
const PROJECTS = `
  SELECT p.id FROM projects p LEFT JOIN statistics_progress s ON s.project_id = p.id
  WHERE s.xact > pg_snapshot_xmax(pg_current_snapshot())::text::bigint OR EXISTS (SELECT FROM events e WHERE e.project_id = p.id AND e.xact >= coalesce(s.xact, 0)
    AND e.xact < pg_snapshot_xmin(pg_current_snapshot())::text::bigint)`;

const START = 'INSERT INTO statistics_progress (project_id) VALUES ($1) ON CONFLICT DO NOTHING';
const LOCK = `
  SELECT xact::text AS since, xact > pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS "isForeign"
  FROM statistics_progress WHERE project_id = $1 FOR UPDATE SKIP LOCKED`;

/** All transactions before `xmin` have ended, and their events are visible to the statements that follow. */
const NEXT = `
  SELECT (CASE WHEN last < xmin THEN greatest(last, $2::bigint + 1) ELSE xmin END)::text AS until, coalesce(last < xmin, false) AS more
  FROM (SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS xmin, (
    SELECT xact FROM events WHERE project_id = $1 AND xact >= $2 ORDER BY xact OFFSET ${CHUNK} LIMIT 1) AS last) AS found`;

const COUNT = `
  INSERT INTO statistics_counts AS c (project_id, at, kind, number)
  SELECT $1, date_bin('15 minutes', created_at, 'epoch'), type, count(*) FROM events
  WHERE project_id = $1 AND xact >= $2 AND xact < $3 AND type = ANY ($4) GROUP BY 2, 3
  ON CONFLICT (project_id, at, kind) DO UPDATE SET number = c.number + excluded.number`;

const FINISH = 'UPDATE statistics_progress SET xact = $2 WHERE project_id = $1';

/** Counts the events of all projects that have not been counted. Processes that do so at once count different projects. */
export async function countEvents(): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(PROJECTS);
  for (const { id } of rows) while (await countChunk(id));
}

/** @returns whether there may be more. */
async function countChunk(projectId: string): Promise<boolean> {
  return inTransaction(async (tx) => {
    await sql(tx, START, [projectId]);
    const [progress] = await sql<{ since: string; isForeign: boolean }>(tx, LOCK, [projectId]);
    if (progress === undefined) return false; // another process counts
    if (progress.isForeign) return startOver(tx, projectId);
    const [next] = await sql<{ until: string; more: boolean }>(tx, NEXT, [projectId, progress.since]);
    const { until, more } = next as { until: string; more: boolean };
    await sql(tx, COUNT, [projectId, progress.since, until, Object.values(COUNTED_EVENTS)]);
    await sql(tx, FINISH, [projectId, until]);
    return more;
  });
}

/** After a dump has been loaded into another server, transactions have numbers from the beginning again. */
async function startOver(tx: Parameters<typeof sql>[0], projectId: string): Promise<boolean> {
  await sql(tx, `DELETE FROM statistics_counts WHERE project_id = $1 AND kind = ANY ($2)`, [
    projectId,
    Object.values(COUNTED_EVENTS),
  ]);
  await sql(tx, FINISH, [projectId, 0]);
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
