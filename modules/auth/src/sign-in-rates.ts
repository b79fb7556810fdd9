import { pool } from '@postroom/platform';

/** The longest rate-limit window is an hour; older rows are irrelevant. */
const KEPT_HOURS = 2;

/** Deletes expired sign-in rate counters; returns the number deleted. */
export async function deleteOldSignInRates(): Promise<number> {
  const { rowCount } = await pool.query('DELETE FROM sign_in_rates WHERE last_request < $1', [
    Date.now() - KEPT_HOURS * 3_600_000,
  ]);
  return rowCount ?? 0;
}

/** The retention delete of this module. @returns the number of rows by kind. */
export async function deleteOld(): Promise<Record<string, number>> {
  return { signInRates: await deleteOldSignInRates() };
}
