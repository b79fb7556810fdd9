import { config, pool } from '@postroom/platform';
import { TRACKING_POLICY } from './policy.ts';

const BATCH = TRACKING_POLICY.retention.batchSize;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Deletes hits older than the event retention. Timestamps and counters derived from them stay. @returns the number deleted. */
export async function deleteOldHits(now = Date.now()): Promise<number> {
  const before = new Date(now - config.RETENTION_DAYS * DAY_MS);
  for (let total = 0; ;) {
    const { rowCount } = await pool.query(
      `DELETE FROM tracking_hits WHERE id IN (SELECT id FROM tracking_hits WHERE at < $1 LIMIT ${BATCH})`,
      [before],
    );
    total += rowCount ?? 0;
    if ((rowCount ?? 0) < BATCH) return total;
  }
}
