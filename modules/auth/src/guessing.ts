import { createHash } from 'node:crypto';
import { logger, pool } from '@postroom/platform';

/** Wrong passwords in a row that cost nothing; people mistype. */
const FREE_FAILURES = 10;
/** After those the account waits, twice as long each time, up to a quarter of an hour; in seconds. */
const FIRST_WAIT_SECONDS = 60;
const LONGEST_WAIT_SECONDS = 900;

/** Forgotten a day after the last wrong password. */
const FORGET_AFTER = `interval '1 day'`;
/** Before the clock of anybody: columns are rounded to the millisecond. */
const AT_ONCE = `now() - interval '1 second'`;
const PURGE_EVERY_MS = 60_000;

/**
 * Who is counted: an account, whatever addresses the passwords come from. A browser that has signed in to the account before counts for
 * itself, so that whoever guesses elsewhere does not keep its owner out. Nothing of the address can be read from it.
 */
export function guessingKey(email: string, knownDevice: string | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify([email, knownDevice ?? null]))
    .digest('hex');
}

/**
 * Counts a password as wrong before it is looked at, so that many at once count as many; `forgetFailures` takes it back for a right one.
 * @returns the seconds to wait when no password is looked at now.
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

/** A right password: the account has no failures any more. */
export async function forgetFailures(key: string): Promise<void> {
  await pool.query('DELETE FROM sign_in_failures WHERE key = $1', [key]);
}

let purgedAt = 0;

/** Rows of made-up addresses do not pile up. */
function purge(): void {
  if (Date.now() - purgedAt < PURGE_EVERY_MS) return;
  purgedAt = Date.now();
  pool
    .query(`DELETE FROM sign_in_failures WHERE updated_at < now() - ${FORGET_AFTER}`)
    .catch((error: unknown) => logger.warn({ err: error }, 'old sign-in failures were not deleted'));
}
