import { config, databaseNow, deleteInBatches, type RetentionOptions } from '@postroom/platform';

/** Maximum rows deleted per statement. */
const BATCH = 1_000;

const EXPIRED = `
  DELETE FROM form_submissions WHERE id IN (
    SELECT id FROM form_submissions WHERE confirmed_at IS NULL AND expires_at < $1 LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`;

/** The record of a consent is kept as long as its contact, and then as long as the project keeps events. */
const ORPHANED = `
  DELETE FROM form_submissions WHERE id IN (
    SELECT s.id FROM form_submissions s JOIN projects p ON p.id = s.project_id
    WHERE s.confirmed_at < $1::timestamptz - make_interval(days => coalesce(p.event_retention_days, $2))
      AND NOT EXISTS (SELECT FROM contacts c WHERE c.id = s.contact_id) LIMIT ${BATCH})`;

/** Deletes submissions that were not confirmed in time, and those whose contact is gone. */
export async function deleteOld({
  days = config.RETENTION_DAYS,
  now = databaseNow(),
  onBatch = () => {},
}: RetentionOptions = {}): Promise<{ formSubmissions: number }> {
  const options = { batch: BATCH, onBatch };
  const expired = await deleteInBatches(EXPIRED, [new Date(now)], options);
  return { formSubmissions: expired + (await deleteInBatches(ORPHANED, [new Date(now), days], options)) };
}
