import type pg from 'pg';
import { mergeSpellings } from './canonical-emails.ts';
import { emptyDerivedNames } from './derived-names.ts';
import type { Cursor } from './cursor.ts';

/** A data migration that runs in batches. */
interface DataMigration {
  name: string;
  /**
   * Processes one batch from `cursor` in the caller's transaction; returns the next cursor, `undefined` after the
   * last batch.
   */
  runBatch: (client: pg.ClientBase, cursor: Cursor) => Promise<Cursor | undefined>;
}

/** In execution order, after the SQL migrations. */
const DATA_MIGRATIONS: readonly DataMigration[] = [
  { name: 'canonical_emails', runBatch: mergeSpellings },
  { name: 'derived_names', runBatch: emptyDerivedNames },
];

export const DATA_MIGRATION_NAMES: readonly string[] = DATA_MIGRATIONS.map(({ name }) => name);

/**
 * Runs pending data migrations; the caller holds the migration lock. A batch and its cursor commit together, so a
 * killed process resumes after the last committed batch. Returns the names of those it finished.
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
    await client.query('ROLLBACK').catch(() => undefined); // the connection itself may have failed
    throw new Error(`The data migration ${name} failed at ${JSON.stringify(cursor)}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
