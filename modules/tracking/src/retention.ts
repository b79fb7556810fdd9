import { config, databaseNow, deleteInBatches } from '@postroom/platform';
import { TRACKING_POLICY } from './policy.ts';

const BATCH = TRACKING_POLICY.retention.batchSize;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Deletes hits older than the event retention. Timestamps and counters derived from them stay. @returns the number deleted. */
export function deleteOldHits(now = databaseNow()): Promise<number> {
  const before = new Date(now - config.RETENTION_DAYS * DAY_MS);
  return deleteInBatches(
    `DELETE FROM tracking_hits WHERE id IN (SELECT id FROM tracking_hits WHERE at < $1 LIMIT ${BATCH})`,
    [before],
    { batch: BATCH },
  );
}
