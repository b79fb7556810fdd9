import { pool } from '@postroom/platform';

/** The longest time over which requests are counted is an hour; a row that is older counts for nothing. */
const KEPT_HOURS = 2;

/** Deletes the counters of sign-in requests that count for nothing any more. Returns how many there were. */
export async function deleteOldSignInRates(): Promise<number> {
  const { rowCount } = await pool.query('DELETE FROM sign_in_rates WHERE last_request < $1', [
    Date.now() - KEPT_HOURS * 3_600_000,
  ]);
  return rowCount ?? 0;
}
