import { config, idsFrom, inTransaction, pool } from '@postroom/platform';

/** Emails that one transaction empties at most. */
const BATCH = 500;
const DAY_MS = 24 * 60 * 60 * 1000;

interface Options {
  /** Days that words and attachments are kept; for ever when not given. */
  days?: number | undefined;
  now?: number;
  /** Called after each batch; when it throws, the rest is left for the next time. */
  onBatch?: () => void;
}

/**
 * Empties transactional emails that are older than their content has to be kept: HTML, text, headers and attachments. Who got
 * them, the subject and what became of them stay, and so does what may still go out.
 */
export async function deleteOldContents({
  days = config.CONTENT_RETENTION_DAYS,
  now = Date.now(),
  onBatch = () => {},
}: Options = {}): Promise<number> {
  if (days === undefined) return 0;
  const before = idsFrom('eml', new Date(now - days * DAY_MS));
  for (let total = 0; ;) {
    const emptied = await emptyBatch(before);
    total += emptied;
    onBatch();
    if (emptied < BATCH) return total;
  }
}

async function emptyBatch(before: string): Promise<number> {
  return inTransaction(async (tx) => {
    const { rows } = await tx.query<{ message_id: string }>(
      `UPDATE message_contents SET html = NULL, text = NULL, headers = '{}' WHERE message_id IN (
         SELECT c.message_id FROM message_contents c
          WHERE c.message_id < $1 AND (c.html IS NOT NULL OR c.text IS NOT NULL)
            AND NOT EXISTS (SELECT FROM messages m
              WHERE (m.id = c.message_id OR m.copy_of = c.message_id) AND m.state IN ('planned', 'claimed'))
          ORDER BY c.message_id LIMIT ${BATCH} FOR UPDATE OF c SKIP LOCKED
       ) RETURNING message_id`,
      [before],
    );
    await tx.query('DELETE FROM message_attachments WHERE message_id = ANY ($1)', [rows.map((row) => row.message_id)]);
    return rows.length;
  });
}

/** Deletes what the inbox of a development system took longer ago than events are kept. */
export async function deleteOldInboxMails({
  days = config.RETENTION_DAYS,
  now = Date.now(),
  onBatch = () => {},
}: Options = {}): Promise<number> {
  for (let total = 0; ;) {
    const { rowCount } = await pool.query(
      `DELETE FROM inbox_mails WHERE id IN (SELECT id FROM inbox_mails WHERE received_at < $1 LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`,
      [new Date(now - days * DAY_MS)],
    );
    total += rowCount ?? 0;
    onBatch();
    if ((rowCount ?? 0) < BATCH) return total;
  }
}
