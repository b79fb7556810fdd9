import type pg from 'pg';
import { mergeSpellings } from './canonical-emails.ts';

/** A change of data in batches. */
interface DataMigration {
  name: string;
  /** Makes one batch from `cursor` on, in the caller's transaction; returns where the next begins, `undefined` after the last. */
  runBatch: (client: pg.ClientBase, cursor: Cursor) => Promise<Cursor | undefined>;
}

/** How far a migration has come; `{}` at its beginning. */
export type Cursor = Record<string, string | number>;

/** In the order in which they run, after the migrations in SQL. */
const DATA_MIGRATIONS: readonly DataMigration[] = [{ name: 'canonical_emails', runBatch: mergeSpellings }];

/**
 * Runs what is left of the data migrations; the caller holds the lock of migrations. A batch and its cursor are one transaction,
 * so a process that is killed at any moment continues from the last batch that was committed. Returns the names of those it finished.
 */
export async function runDataMigrations(client: pg.ClientBase): Promise<string[]> {
  const finished: string[] = [];
  for (const { name, runBatch } of DATA_MIGRATIONS) {
    await client.query('INSERT INTO data_migrations (name) VALUES ($1) ON CONFLICT DO NOTHING', [name]);
    const { rows } = await client.query<{ cursor: Cursor; finished: boolean }>(
      'SELECT cursor, finished_at IS NOT NULL AS finished FROM data_migrations WHERE name = $1',
      [name],
    );
    if (rows[0]?.finished !== false) continue;
    let cursor: Cursor | undefined = rows[0].cursor;
    while (cursor !== undefined) cursor = await commitBatch(client, name, cursor, runBatch);
    finished.push(name);
  }
  return finished;
}

async function commitBatch(
  client: pg.ClientBase,
  name: string,
  cursor: Cursor,
  runBatch: DataMigration['runBatch'],
): Promise<Cursor | undefined> {
  await client.query('BEGIN');
  try {
    const next = await runBatch(client, cursor);
    await client.query(
      'UPDATE data_migrations SET cursor = coalesce($2, cursor), finished_at = CASE WHEN $2::jsonb IS NULL THEN now() END WHERE name = $1',
      [name, next ?? null],
    );
    await client.query('COMMIT');
    return next;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined); // the connection may be what failed
    throw new Error(`The data migration ${name} failed at ${JSON.stringify(cursor)}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
