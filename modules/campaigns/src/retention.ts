import {
  batchesBefore,
  deleteOldContents,
  deleteOldEmails,
  deleteRecipients,
  type DroppedMessages,
  dropOldMessages,
  messageRetentions,
  NOTHING_DROPPED,
} from '@postroom/ledger';
import { databaseNow, idsFrom, pool, type RetentionOptions } from '@postroom/platform';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Marks expired campaigns before any row is deleted. Nothing is retried or resolved from then on, so the counters stay
 * consistent with the rows as they were.
 */
const MARK_EXPIRED = `
  UPDATE campaigns SET recipients_deleted_at = now()
  WHERE project_id = $1 AND recipients_deleted_at IS NULL AND status IN ('completed', 'canceled') AND frozen_at IS NOT NULL
    AND coalesce(completed_at, updated_at) < $2 AND (snapshot_prefix IS NULL OR snapshot_prefix < $3)
    AND accepted_count + failed_count + suppressed_count + unknown_count + canceled_count = recipient_count`;

/** Marked campaigns that still have rows, including those whose deletion was interrupted. */
const UNFINISHED = `
  SELECT id FROM campaigns c WHERE recipients_deleted_at IS NOT NULL AND EXISTS (SELECT FROM messages m WHERE m.campaign_id = c.id)
  ORDER BY id`;

interface Options extends RetentionOptions {
  /** What goes with its partition. */
  dropped?: DroppedMessages;
}

/**
 * Deletes the messages of campaigns that ended before their project's retention period. The campaign, its counters, its link
 * counters and suppressions are kept.
 * @returns the number of deleted messages.
 */
export async function deleteOldRecipients({
  days,
  now = databaseNow(),
  onBatch = () => {},
  dropped = NOTHING_DROPPED,
}: Options = {}): Promise<number> {
  await markExpired({ days, now, onBatch }, (project) => idsFrom('eml', batchesBefore(dropped, project)));
  let total = 0;
  const { rows } = await pool.query<{ id: string }>(UNFINISHED);
  for (const { id } of rows) {
    for (let isDone = false; !isDone;) {
      const { deleted, isLast } = await deleteRecipients(id);
      total += deleted;
      isDone = isLast;
      onBatch();
    }
  }
  return total;
}

/** Marks the expired campaigns of each project whose message ids begin before a limit. */
async function markExpired(
  { days, now = databaseNow(), onBatch = () => {} }: RetentionOptions,
  limitOf: (project: { days: number; before: Date }) => string,
): Promise<void> {
  for (const project of await messageRetentions(days)) {
    const before = new Date(now - project.days * DAY_MS);
    await pool.query(MARK_EXPIRED, [project.projectId, before, limitOf({ days: project.days, before })]);
    onBatch();
  }
}

/**
 * Deletes what has expired of the ledger: partitions of messages, then in batches contents, emails, and recipients of campaigns.
 * @returns the number by kind.
 */
export async function deleteOld(options: RetentionOptions): Promise<Record<string, number>> {
  const contents = await deleteOldContents({ ...options, days: undefined });
  const dropped = await dropOldMessages({ ...options, markExpired: (to) => markExpired(options, () => to) });
  const emails = await deleteOldEmails({ ...options, dropped });
  const recipients = await deleteOldRecipients({ ...options, dropped });
  return { messagePartitions: dropped.partitions, contents, emails, recipients };
}
