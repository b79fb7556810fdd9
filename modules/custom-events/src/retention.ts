import { databaseNow, deleteInBatches, type RetentionOptions } from '@postroom/platform';
import { customEventRetentions } from '@postroom/projects';
import { LATE_DAYS } from './check-event.ts';
import { createPartitions, dropPartition, isEmpty, listPartitions } from './partitions.ts';

/** Maximum rows deleted per statement. */
const BATCH = 5_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Rows and partitions removed. */
export interface Deleted {
  customEventPartitions: number;
  customEvents: number;
  customEventKeys: number;
}

/**
 * Creates the partitions of the coming months, and deletes what has expired: partitions that no project keeps as a whole, and
 * the rows of projects that keep less in batches.
 */
export async function deleteOld({
  days,
  now = databaseNow(),
  onBatch = () => {},
}: RetentionOptions = {}): Promise<Deleted> {
  await createPartitions();
  const deleted = { customEventPartitions: 0, customEvents: 0, customEventKeys: 0 };
  const retentions = await customEventRetentions(days);
  const longest = Math.max(0, ...retentions.map((project) => project.days));
  deleted.customEventPartitions += await dropPartitions(new Date(now - longest * DAY_MS), onBatch);
  for (const project of retentions) {
    const before = new Date(now - project.days * DAY_MS);
    for (const statement of [DELETE_EVENTS, DELETE_CONTACT_DAYS, DELETE_DAYS]) {
      const count = await deleteInBatches(statement, [project.projectId, before], { batch: BATCH, onBatch });
      if (statement === DELETE_EVENTS) deleted.customEvents += count;
    }
  }
  // A day later than an event may be late, so that a repeated event is either a duplicate or too old.
  const unused = new Date(now - (LATE_DAYS + 1) * DAY_MS);
  deleted.customEventKeys = await deleteInBatches(DELETE_KEYS, [unused], { batch: BATCH, onBatch });
  return deleted;
}

/** Drops the partitions that end before the time, and those of the past that have become empty. */
async function dropPartitions(before: Date, onBatch: () => void): Promise<number> {
  const late = databaseNow() - (LATE_DAYS + 1) * DAY_MS;
  let dropped = 0;
  for (const partition of await listPartitions()) {
    const until = partition.until.getTime();
    if (until > late || (until > before.getTime() && !(await isEmpty(partition)))) continue;
    if (await dropPartition(partition)) dropped++;
    onBatch();
  }
  return dropped;
}

const DELETE_EVENTS = `
  DELETE FROM custom_events WHERE (project_id, occurred_at, id) IN (
    SELECT project_id, occurred_at, id FROM custom_events WHERE project_id = $1 AND occurred_at < $2
     ORDER BY occurred_at, id LIMIT ${BATCH}) AND project_id = $1 AND occurred_at < $2`;
/** Days before the first one that is kept at least in part. */
const DELETE_CONTACT_DAYS = `
  DELETE FROM custom_event_contact_days WHERE (project_id, name, day, contact_id) IN (
    SELECT project_id, name, day, contact_id FROM custom_event_contact_days
     WHERE project_id = $1 AND day < ($2::timestamptz AT TIME ZONE 'UTC')::date LIMIT ${BATCH})
    AND project_id = $1 AND day < ($2::timestamptz AT TIME ZONE 'UTC')::date`;
const DELETE_DAYS = `
  DELETE FROM custom_event_days WHERE (project_id, name, day) IN (
    SELECT project_id, name, day FROM custom_event_days
     WHERE project_id = $1 AND day < ($2::timestamptz AT TIME ZONE 'UTC')::date LIMIT ${BATCH})`;
const DELETE_KEYS = `
  DELETE FROM custom_event_keys WHERE (project_id, key) IN (
    SELECT project_id, key FROM custom_event_keys WHERE received_at < $1 ORDER BY received_at LIMIT ${BATCH})`;
