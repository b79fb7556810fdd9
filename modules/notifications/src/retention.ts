import { config, databaseNow, deleteInBatches, type RetentionOptions } from '@postroom/platform';

/** Maximum rows deleted per statement. */
const BATCH = 1_000;

const EXPIRED = `
  DELETE FROM notifications WHERE id IN (
    SELECT n.id FROM notifications n JOIN projects p ON p.id = n.project_id
    WHERE n.created_at < $1::timestamptz - make_interval(days => coalesce(p.event_retention_days, $2)) LIMIT ${BATCH}
  )`;

/** Deletes notifications that are older than the events of their project are kept, with who has read them. */
export async function deleteOld({
  days = config.RETENTION_DAYS,
  now = databaseNow(),
  onBatch = () => {},
}: RetentionOptions = {}): Promise<{ notifications: number }> {
  return { notifications: await deleteInBatches(EXPIRED, [new Date(now), days], { batch: BATCH, onBatch }) };
}
