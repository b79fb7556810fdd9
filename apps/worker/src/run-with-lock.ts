import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode, LOCK_NOT_AVAILABLE } from '@postroom/platform';
import type pg from 'pg';
import { transaction } from './move/transaction.ts';

/**
 * Other sessions wait behind one that waits for a table's lock, so give up soon, let them pass, and try again. Every tenth time wait for longer
 * than the second after which PostgreSQL cancels an autovacuum that is in the way.
 */
const LOCK_TIMEOUT_MS = 300;
const LONG_LOCK_TIMEOUT_MS = 1_500;
const RETRY_MS = 200;

/** Runs statements that lock a table, in one transaction; tries again if the lock is not available. */
export async function runWithLock(client: pg.ClientBase, statements: readonly string[], maxTries = 300): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await transaction(client, async () => {
        await client.query(`SET LOCAL lock_timeout = ${tries % 10 === 0 ? LONG_LOCK_TIMEOUT_MS : LOCK_TIMEOUT_MS}`);
        for (const statement of statements) await client.query(statement);
      });
      return;
    } catch (error) {
      if (!hasCode(error, LOCK_NOT_AVAILABLE) || tries >= maxTries) throw error;
      await sleep(RETRY_MS);
    }
  }
}
