import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';

/** How long to wait for the other file. */
const LOCK_TIMEOUT_MS = 300_000;

/**
 * Prevents test files with the same lock from running at once. Needed by tests that process all projects' rows,
 * such as retention, which would otherwise find some of the work done.
 */
export function runExclusively(name: string): void {
  // Not from the pool: the other file may take longer than a statement may.
  const holder = new pg.Client({ connectionString: process.env.DATABASE_URL });
  beforeAll(async () => {
    await holder.connect();
    await holder.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [`tests: ${name}`]);
  }, LOCK_TIMEOUT_MS);
  // Closing the connection releases the lock.
  afterAll(() => holder.end());
}
