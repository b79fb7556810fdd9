import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { config } from '@postroom/settings/config';
import { DATA_MIGRATION_NAMES } from './data-migrations.ts';
import { countOf, isOutage, pool } from '@postroom/platform';
import { keepDatabaseTime } from '@postroom/clock';
import { logger } from '@postroom/observability';
import { migrationNames } from './migrate.ts';

/** How often a program looks whether the schema is current, in milliseconds. */
const LOOK_MS = 1_000;

/**
 * Waits for the database to respond, and up to MIGRATION_WAIT_SECONDS for its schema to be current. A newer schema is: migrations
 * are additive. From then on, this process has PostgreSQL's time.
 * @throws Error naming a pending migration.
 */
export async function waitForSchema(): Promise<void> {
  const until = performance.now() + config.MIGRATION_WAIT_SECONDS * 1000;
  let told: string | undefined;
  for (;;) {
    const problem = await takeUpDatabase();
    if (problem === undefined) return;
    if (!problem.isOutage && performance.now() >= until) throw new Error(problem.message);
    if (told !== problem.message) logger.warn(`waiting for the database: ${problem.message}`);
    told = problem.message;
    await sleep(LOOK_MS);
  }
}

interface DatabaseProblem {
  message: string;
  isOutage: boolean;
}

/** Checks the schema and, if it is current, takes the time of PostgreSQL. @returns what is in the way. */
async function takeUpDatabase(): Promise<DatabaseProblem | undefined> {
  try {
    const pending = await pendingMigrations(pool);
    if (pending.length === 0) {
      await keepDatabaseTime({ ask: readDatabaseTime, onWrong: warnOfClock });
      return undefined;
    }
    const message = `The database lacks ${countOf(pending.length, 'migration')} of this version, the first is ${pending[0]}. Run "postroom migrate", or set MIGRATION_WAIT_SECONDS to wait for it.`;
    return { message, isOutage: false };
  } catch (error) {
    if (!isOutage(error)) throw error;
    return { message: `it is not responding: ${(error as Error).message}`, isOutage: true };
  }
}

function warnOfClock(seconds: number): void {
  const difference = `${Math.abs(seconds)} seconds ${seconds > 0 ? 'ahead of' : 'behind'}`;
  logger.warn({ seconds }, `the clock of this machine is ${difference} PostgreSQL's: correct one of them`);
}

async function readDatabaseTime(): Promise<number> {
  const { rows } = await pool.query<{ ms: number }>(
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
  );
  return rows[0]?.ms ?? Date.now();
}

/** Names of the migrations that this version has and the database has not finished, in order. */
export async function pendingMigrations(client: pg.Pool | pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ exists: boolean }>(
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists`,
  );
  const names = await migrationNames();
  if (rows[0]?.exists !== true) return [...names, ...DATA_MIGRATION_NAMES];
  const { rows: applied } = await client.query<{ name: string }>(
    'SELECT migration_name AS name FROM _prisma_migrations WHERE rolled_back_at IS NULL AND finished_at IS NOT NULL',
  );
  const done = new Set(applied.map(({ name }) => name));
  const pending = names.filter((name) => !done.has(name));
  if (pending.length > 0) return pending;
  const { rows: finished } = await client.query<{ name: string }>(
    'SELECT name FROM data_migrations WHERE finished_at IS NOT NULL',
  );
  return DATA_MIGRATION_NAMES.filter((name) => !finished.some((row) => row.name === name));
}
