import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { runDataMigrations } from './data-migrations.ts';
import { LOCK_RETRY_DELAYS_MS, LOCK_TIMEOUT_MS } from './lock-timeout.ts';
import { buildPartitionedIndexes } from './partitioned-indexes.ts';
import { hasCode, LOCK_NOT_AVAILABLE, retry } from '@postroom/errors';

const MODULES = join(import.meta.dirname, '../../../modules');

/** The migrations of a module: one subfolder each, in Prisma's format. */
export const migrationsOf = (module: string): string => join(MODULES, module, 'migrations');

/** The kernel's migrations. They include migrations of modules from before modules had their own. */
export const MIGRATIONS_DIR = migrationsOf('platform');

/** The advisory lock of Prisma's own `migrate deploy`, so that the two exclude each other. */
const MIGRATION_LOCK = 72707369;

/** How often a migration that waits for another one looks whether that has ended, in milliseconds. */
const LOCK_POLL_MS = 200;

/** First line of a migration whose statements run one by one without a transaction, as `CREATE INDEX CONCURRENTLY` must. */
const NO_TRANSACTION = /^-- postroom: no transaction\r?\n/;

/** Prisma's migrations table, with its exact definition, so that either tool can continue after the other. */
const CREATE_MIGRATIONS_TABLE = `
  CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id                  VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum            VARCHAR(64) NOT NULL,
    finished_at         TIMESTAMPTZ,
    migration_name      VARCHAR(255) NOT NULL,
    logs                TEXT,
    rolled_back_at      TIMESTAMPTZ,
    started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count INTEGER NOT NULL DEFAULT 0
  )`;

export interface Migration {
  name: string;
  sql: string;
}

/**
 * Applies pending migrations and returns their names. Concurrent callers wait for each other. Each migration is
 * applied atomically, except those that begin with `-- postroom: no transaction`: they repeat from their first statement
 * after a failure, so each statement must allow that.
 * @throws Error naming a migration that failed, that changed after it was applied, or that Prisma left unfinished.
 */
export async function migrate(databaseUrl: string, migrationsDir?: string): Promise<string[]> {
  const migrations = await readMigrations(migrationsDir);
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'postroom migrate' });
  await client.connect();
  try {
    await acquireMigrationLock(client);
    await client.query('SET client_min_messages = warning');
    await client.query(CREATE_MIGRATIONS_TABLE);
    const waiting = await selectWaiting(client, migrations);
    for (const migration of waiting) await apply(client, migration);
    if (migrationsDir === undefined) {
      await runDataMigrations(client);
      await buildPartitionedIndexes(client);
      await restartTransactionNumbers(client);
    }
    return waiting.map(({ name }) => name);
  } finally {
    await client.end(); // also releases the lock
  }
}

/** Polls, because a session that waits for a lock keeps a snapshot, for which `CREATE INDEX CONCURRENTLY` would wait in turn. */
async function acquireMigrationLock(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [
      MIGRATION_LOCK,
    ]);
    if (rows[0]?.locked === true) return;
    await sleep(LOCK_POLL_MS);
  }
}

/**
 * Events and attempts store the id of the transaction that recorded them, and a new server counts from the start.
 * After a dump is restored, ids ahead of the counter are set to 0, so that they sort before all new rows. Returns
 * the number of rows changed.
 */
export async function restartTransactionNumbers(client: pg.ClientBase): Promise<number> {
  const ahead = 'xact >= (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint)';
  let moved = 0;
  for (const table of ['events', 'attempts']) {
    // Checked per project because the index begins with it; usually finds nothing, at no cost.
    const { rowCount } = await client.query(
      `SELECT FROM projects p WHERE EXISTS (SELECT FROM ${table} WHERE project_id = p.id AND ${ahead}) LIMIT 1`,
    );
    if (rowCount === 0) continue;
    moved += (await client.query(`UPDATE ${table} SET xact = 0 WHERE ${ahead}`)).rowCount ?? 0;
  }
  return moved;
}

/** The migrations of every module, or of one folder, in the order of their names, in which they apply. */
export async function readMigrations(migrationsDir?: string): Promise<Migration[]> {
  const all = migrationsDir === undefined ? undefined : [migrationsDir];
  return Promise.all(
    (await migrationFolders(all)).map(async ({ name, parentPath }) => ({
      name,
      sql: await readFile(join(parentPath, name, 'migration.sql'), 'utf8'),
    })),
  );
}

/** The names of every module's migrations, in order. */
export const migrationNames = async (): Promise<string[]> => (await migrationFolders()).map(({ name }) => name);

async function migrationFolders(of?: readonly string[]) {
  const all = of ?? (await readdir(MODULES)).map(migrationsOf).filter(existsSync);
  const entries = (await Promise.all(all.map((folder) => readdir(folder, { withFileTypes: true })))).flat();
  return entries.filter((entry) => entry.isDirectory()).sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function selectWaiting(client: pg.Client, migrations: Migration[]): Promise<Migration[]> {
  const { rows } = await client.query<{ name: string; checksum: string; finished: boolean }>(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished
       FROM _prisma_migrations WHERE rolled_back_at IS NULL`,
  );
  const known = new Map(rows.map((row) => [row.name, row]));
  return migrations.filter(({ name, sql }) => {
    const row = known.get(name);
    if (!row) return true;
    if (!row.finished) {
      throw new Error(`Migration ${name} did not finish. Repair the database, then run "prisma migrate resolve".`);
    }
    if (!checksums(sql).includes(row.checksum)) {
      throw new Error(
        `Migration ${name} was changed after it was applied. Restore it and write a new migration instead.`,
      );
    }
    return false;
  });
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  if (NO_TRANSACTION.test(migration.sql)) return applyStatements(client, migration);
  await retry(() => applyAtOnce(client, migration), {
    delaysMs: LOCK_RETRY_DELAYS_MS,
    isRetryable: (error) => hasCode((error as Error).cause, LOCK_NOT_AVAILABLE),
  });
}

/** Statements and bookkeeping share a transaction, so a crash or an error leaves nothing behind. */
async function applyAtOnce(client: pg.Client, migration: Migration): Promise<void> {
  const { name, sql } = migration;
  try {
    await client.query(`BEGIN; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await client.query(sql);
    await markApplied(client, migration);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined); // the connection itself may have failed
    throw new Error(`Migration ${name} failed and was rolled back: ${describe(error, sql)}`, { cause: error });
  }
}

async function applyStatements(client: pg.Client, migration: Migration): Promise<void> {
  const { name, sql } = migration;
  for (const statement of sql.replaceAll(/^--.*$/gm, '').split(/;\s*$/m)) {
    if (statement.trim() === '') continue;
    try {
      await client.query(statement);
    } catch (error) {
      throw new Error(
        `Migration ${name} failed at "${statement.trim()}" and will be repeated: ${(error as Error).message}`,
        {
          cause: error,
        },
      );
    }
  }
  await markApplied(client, migration);
}

async function markApplied(client: pg.Client, { name, sql }: Migration): Promise<void> {
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
    [randomUUID(), sha256(sql), name],
  );
}

/** Converts PostgreSQL's character position to a line number. */
function describe(error: unknown, sql: string): string {
  if (!(error instanceof pg.DatabaseError) || !error.position) return (error as Error).message;
  const line = sql.slice(0, Number(error.position) - 1).split('\n').length;
  return `${error.message} (line ${line} of migration.sql)`;
}

/** Git may convert line endings; like Prisma, we accept either form. */
function checksums(sql: string): string[] {
  const unix = sql.replaceAll('\r\n', '\n');
  return [sql, unix, unix.replaceAll('\n', '\r\n')].map(sha256);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
