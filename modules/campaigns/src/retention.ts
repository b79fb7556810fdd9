import { deleteRecipients, messageRetentions } from '@postroom/ledger';
import { pool } from '@postroom/platform';

const DAY_MS = 24 * 60 * 60 * 1000;

interface Options {
  /** Days that messages are kept where a project does not say; the setting when not given. */
  days?: number | undefined;
  now?: number;
  /** Called after each batch; when it throws, the rest is left for the next time. */
  onBatch?: () => void;
}

/**
 * A campaign is marked first, all of it at once: nothing is retried or resolved from then on, so its counters are what the rows
 * said when the last of them was there.
 */
const GIVE_UP = `
  UPDATE campaigns SET recipients_deleted_at = now()
  WHERE project_id = $1 AND recipients_deleted_at IS NULL AND status IN ('completed', 'canceled') AND frozen_at IS NOT NULL
    AND coalesce(completed_at, updated_at) < $2
    AND accepted_count + failed_count + suppressed_count + unknown_count + canceled_count = recipient_count`;

/** Of those that were given up, whoever still has rows: a deletion may have been cut off. */
const UNFINISHED = `
  SELECT id FROM campaigns c WHERE recipients_deleted_at IS NOT NULL AND EXISTS (SELECT FROM messages m WHERE m.campaign_id = c.id)
  ORDER BY id`;

/**
 * Deletes the messages of campaigns that ended longer ago than their project keeps messages. The campaign, its counters and those of
 * its links stay, and so do suppressions.
 */
export async function deleteOldRecipients({
  days,
  now = Date.now(),
  onBatch = () => {},
}: Options = {}): Promise<number> {
  for (const project of await messageRetentions(days)) {
    await pool.query(GIVE_UP, [project.projectId, new Date(now - project.days * DAY_MS)]);
    onBatch();
  }
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
