import { databaseTime, pool, sql, type Tx } from '@postroom/platform';

/** For how long the file of a completed dry run is kept, in days. */
const KEPT_DAYS = 7;
/** How many dry runs of a project keep their file; older ones lose it. */
const KEPT_DRY_RUNS = 3;

/** Keeps the file of a completed dry run, so that the dry run can be executed. */
export async function keepFile(tx: Tx, projectId: string, id: string): Promise<void> {
  await sql(tx, `UPDATE imports SET file_expires_at = now() + make_interval(days => $2) WHERE id = $1`, [
    id,
    KEPT_DAYS,
  ]);
  await dropFiles(
    tx,
    `SELECT id FROM imports WHERE project_id = $1 AND file_expires_at IS NOT NULL ORDER BY id DESC OFFSET $2`,
    [projectId, KEPT_DRY_RUNS],
  );
}

/** Deletes the kept files of a project, such as when a person in one of them may have been erased. */
export const dropKeptFiles = (tx: Tx, projectId: string): Promise<number> =>
  dropFiles(tx, 'SELECT id FROM imports WHERE project_id = $1 AND file_expires_at IS NOT NULL', [projectId]);

/** Deletes kept files whose time is over. @returns their number. */
export const dropExpiredFiles = (): Promise<number> =>
  dropFiles(pool, 'SELECT id FROM imports WHERE file_expires_at <= $1 LIMIT 100', [databaseTime()]);

async function dropFiles(tx: Tx, imports: string, values: unknown[]): Promise<number> {
  const dropped = await sql(
    tx,
    `WITH dropped AS (${imports}), parts AS (
       DELETE FROM import_parts WHERE import_id IN (SELECT id FROM dropped)
     ) UPDATE imports SET file_expires_at = NULL WHERE id IN (SELECT id FROM dropped) RETURNING id`,
    values,
  );
  return dropped.length;
}
