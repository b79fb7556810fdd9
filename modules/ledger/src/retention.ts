import { rowWithId } from '@postroom/partitions/sql';
import { config, databaseNow, idsFrom, inTransaction, pool, type RetentionOptions } from '@postroom/platform';
import { DELETE_HITS, DELETE_LINKS } from '@postroom/tracking/sql';
import type pg from 'pg';
import { batchesBefore, type DroppedMessages, NOTHING_DROPPED } from './message-partitions.ts';

/** The most emails that one transaction changes. */
const BATCH = 500;
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Deletes the content of transactional emails past their retention: HTML, text, headers and attachments. Recipients,
 * subjects and statuses stay, and emails that may still be sent are skipped.
 * @returns the number of emails changed.
 */
export async function deleteOldContents({
  days = config.CONTENT_RETENTION_DAYS,
  now = databaseNow(),
  onBatch = () => {},
}: RetentionOptions = {}): Promise<number> {
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
      `UPDATE message_contents SET html = NULL, text = NULL, html_text = NULL, headers = '{}' WHERE message_id = ANY (ARRAY(
         SELECT c.message_id FROM message_contents c
          WHERE c.message_id < $1 AND (c.html IS NOT NULL OR c.text IS NOT NULL)
            AND NOT EXISTS ${rowWithId('messages', 'm', 'c.message_id', `AND m.state IN ('planned', 'claimed')`)}
            AND NOT EXISTS (SELECT FROM messages m WHERE m.copy_of = c.message_id AND m.state IN ('planned', 'claimed'))
          ORDER BY c.message_id LIMIT ${BATCH} FOR UPDATE OF c SKIP LOCKED
       )) RETURNING message_id`,
      [before],
    );
    await tx.query('DELETE FROM message_attachments WHERE message_id = ANY ($1)', [rows.map((row) => row.message_id)]);
    return rows.length;
  });
}

/** Each project's retention in days, falling back to the installation's default. */
const RETENTIONS = `SELECT id, coalesce(message_retention_days, $1) AS days FROM projects
  WHERE coalesce(message_retention_days, $1) IS NOT NULL ORDER BY id`;

/** The projects that delete old messages, with their retention in days. */
export async function messageRetentions(
  days = config.MESSAGE_RETENTION_DAYS,
): Promise<{ projectId: string; days: number }[]> {
  const { rows } = await pool.query<{ id: string; days: number }>(RETENTIONS, [days ?? null]);
  return rows.map((row) => ({ projectId: row.id, days: row.days }));
}

interface EmailRetention extends RetentionOptions {
  /** What goes with its partition. */
  dropped?: DroppedMessages;
}

/**
 * Deletes transactional emails, with the rows of all their recipients, once their last change is older than the project's
 * retention. Emails that may still be sent stay. Unsubscribe links keep working, since they do not need the row.
 * @returns the number of rows deleted.
 */
export async function deleteOldEmails({
  days,
  now = databaseNow(),
  onBatch = () => {},
  dropped = NOTHING_DROPPED,
}: EmailRetention = {}): Promise<number> {
  let total = 0;
  for (const project of await messageRetentions(days)) {
    const before = new Date(now - project.days * DAY_MS);
    const created = batchesBefore(dropped, { ...project, before });
    for (let after: string | undefined = ''; after !== undefined;) {
      const { deleted, last } = await deleteEmailsAfter(project.projectId, after, { created, closed: before });
      total += deleted;
      after = last;
      onBatch();
    }
  }
  return total;
}

/** Checks the next batch. An email scheduled long ago may have been sent recently; it stays. */
async function deleteEmailsAfter(
  projectId: string,
  after: string,
  before: { created: Date; closed: Date },
): Promise<{ deleted: number; last: string | undefined }> {
  return inTransaction(async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      `SELECT id FROM messages WHERE project_id = $1 AND campaign_id IS NULL AND copy_of IS NULL AND id > $2 AND id < $3
       ORDER BY id LIMIT ${BATCH}`,
      [projectId, after, idsFrom('eml', before.created)],
    );
    const ids = rows.map(({ id }) => id);
    const { rows: old } = await tx.query<{ id: string }>(
      `WITH locked AS (
         SELECT * FROM messages WHERE id = ANY ($1) OR copy_of = ANY ($1) ORDER BY id FOR UPDATE
       )
       SELECT coalesce(copy_of, id) AS id FROM locked GROUP BY 1
       HAVING bool_and(state NOT IN ('planned', 'claimed') AND coalesce(accepted_at, unsent_at, created_at) < $2)`,
      [ids, before.closed],
    );
    const deleted = await deleteMessages(
      tx,
      old.map(({ id }) => id),
    );
    return { deleted, last: ids.length === BATCH ? ids.at(-1) : undefined };
  });
}

/** Deletes messages, their copies, hits and links in the caller's transaction. */
async function deleteMessages(tx: pg.ClientBase, ids: readonly string[]): Promise<number> {
  const { rows } = await tx.query<{ id: string }>(
    'DELETE FROM messages WHERE id = ANY ($1) OR copy_of = ANY ($1) RETURNING id',
    [ids],
  );
  const deletedIds = rows.map(({ id }) => id);
  await tx.query(DELETE_HITS, [deletedIds]);
  await tx.query(DELETE_LINKS, [deletedIds]);
  return deletedIds.length;
}

/** The most messages of a campaign that one transaction deletes. */
const RECIPIENT_BATCH = 2_000;

/** Deletes the next batch of messages of a campaign. `isLast` says that none are left. */
export async function deleteRecipients(campaignId: string): Promise<{ deleted: number; isLast: boolean }> {
  return inTransaction(async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      `SELECT id FROM messages WHERE campaign_id = $1 ORDER BY id LIMIT ${RECIPIENT_BATCH} FOR UPDATE`,
      [campaignId],
    );
    const deleted = await deleteMessages(
      tx,
      rows.map(({ id }) => id),
    );
    return { deleted, isLast: rows.length < RECIPIENT_BATCH };
  });
}
