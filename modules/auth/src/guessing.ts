import { createHash } from 'node:crypto';
import { logger, pool } from '@postroom/platform';

/** Consecutive wrong passwords without a delay, for typos. */
const FREE_FAILURES = 10;
/** Then the delay doubles with each failure, up to 15 minutes; in seconds. */
const FIRST_WAIT_SECONDS = 60;
const LONGEST_WAIT_SECONDS = 900;

/** Failures expire a day after the last wrong password. */
const FORGET_AFTER = `interval '1 day'`;
/** Earlier than any client's clock: columns are rounded to the millisecond. */
const AT_ONCE = `now() - interval '1 second'`;
const PURGE_EVERY_MS = 60_000;

/**
 * The key of a failure counter: the account, whatever address the attempts come from. A browser that has signed in
 * to the account before is counted separately, so that an attacker can't lock the owner out. The key does not
 * reveal the address.
 */
export function guessingKey(email: string, knownDevice: string | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify([email, knownDevice ?? null]))
    .digest('hex');
}

/**
 * Counts an attempt as failed before the password is checked, so that concurrent attempts all count;
 * `forgetFailures` resets the counter on success.
 * @returns the seconds to wait if the password must not be checked now
 */
export async function countFailure(key: string): Promise<number | undefined> {
  purge();
  const { rows } = await pool.query<{ counted: boolean; wait: number | null }>({
    name: 'count-sign-in-failure',
    text: `WITH counted AS (
        INSERT INTO sign_in_failures AS f (key, failures, next_at, updated_at) VALUES ($1, 1, ${AT_ONCE}, now())
        ON CONFLICT (key) DO UPDATE SET
          failures = CASE WHEN f.updated_at < now() - ${FORGET_AFTER} THEN 1 ELSE f.failures + 1 END,
          next_at = CASE WHEN f.updated_at < now() - ${FORGET_AFTER} OR f.failures + 1 < $2 THEN ${AT_ONCE}
            ELSE now() + least($3 * power(2, least(f.failures + 1 - $2, 20)), $4) * interval '1 second' END,
          updated_at = now()
        WHERE f.next_at <= clock_timestamp()
        RETURNING key)
      SELECT EXISTS (SELECT FROM counted) AS counted,
        (SELECT ceil(extract(epoch FROM next_at - now()) - 0.01)::int FROM sign_in_failures WHERE key = $1) AS wait`,
    values: [key, FREE_FAILURES, FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS],
  });
  const [row] = rows;
  return row?.counted === true ? undefined : Math.max(1, row?.wait ?? 1);
}

/** Resets the failures of an account after a correct password. */
export async function forgetFailures(key: string): Promise<void> {
  await pool.query('DELETE FROM sign_in_failures WHERE key = $1', [key]);
}

let purgedAt = -Infinity;

/** Deletes old rows, so that attempts on made-up addresses don't accumulate. */
function purge(): void {
  if (performance.now() - purgedAt < PURGE_EVERY_MS) return;
  purgedAt = performance.now();
  pool
    .query(`DELETE FROM sign_in_failures WHERE updated_at < now() - ${FORGET_AFTER}`)
    .catch((error: unknown) => logger.warn({ err: error }, 'could not delete old sign-in failures'));
}
