import { pool } from '@postroom/platform';
import type pg from 'pg';
import { afterAll, beforeAll } from 'vitest';

/** How long the other file may take. */
const PATIENCE_MS = 300_000;

/**
 * Lets no two files of tests run at once that say the same here: those whose work is on the rows of all projects, as that of
 * deleting what is old, would otherwise find some of it done.
 */
export function runExclusively(name: string): void {
  let holder: pg.PoolClient | undefined;
  beforeAll(async () => {
    holder = await pool.connect();
    await holder.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [`tests: ${name}`]);
  }, PATIENCE_MS);
  // What ends its connection gives up the lock.
  afterAll(() => holder?.release(true));
}
