import { databaseNow } from '@postroom/clock';
import { config } from '@postroom/settings/config';
import { deleteInBatches, type RetentionOptions } from './db.ts';
import { idsFrom } from './ids.ts';

/** Maximum rows deleted per statement. */
const BATCH = 1_000;

const DAY_MS = 24 * 60 * 60 * 1000;

/** Deletes audit entries past their retention. Ids begin with the time, so they select by age. */
export async function deleteOldAuditEntries({
  days = config.AUDIT_RETENTION_DAYS,
  now = databaseNow(),
  onBatch = () => {},
}: RetentionOptions = {}): Promise<number> {
  if (days === undefined) return 0;
  return deleteInBatches(
    `DELETE FROM audit_entries WHERE id IN (SELECT id FROM audit_entries WHERE id < $1 ORDER BY id LIMIT ${BATCH})`,
    [idsFrom('aud', new Date(now - days * DAY_MS))],
    { batch: BATCH, onBatch },
  );
}
