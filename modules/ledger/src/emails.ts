import {
  announce,
  currentTraceparent,
  inTransaction,
  notifySoon,
  pool,
  settleClaims,
  type SettledClaim,
  sql,
  type Tx,
} from '@postroom/platform';

/** Rows of transactional emails. Members are named like the columns. */
export interface EmailRows {
  /** One per recipient; the first owns the content. */
  messages: Record<string, unknown>[];
  contents: Record<string, unknown>[];
  /** Claims of idempotency keys with their responses (`settledClaim`). Rows whose `key_claim` is the id of one are inserted only if it still holds. */
  claims: readonly SettledClaim[];
}

/** An attachment, or an alternative body. */
export interface AttachmentRow {
  filename: string;
  contentType: string | null;
  contentId: string | null;
  alternative: boolean;
  /** Whether it is an alternative that goes before the HTML. */
  beforeHtml: boolean;
  content: Uint8Array;
}

/** The queue of a project's transactional mail. */
const queueOf = (projectId: string) => `emails ${projectId}`;

/**
 * Inserts any number of emails in one statement, from JSON whose members are named like the columns.
 * @param claims SQL that settles claims, whose rows depend on it.
 */
const insertSql = (claims?: string): string => {
  const ifHeld = (row: string) =>
    claims === undefined ? '' : `WHERE ${row}.key_claim IS NULL OR ${row}.key_claim IN (SELECT id FROM held)`;
  return `
  WITH ${claims === undefined ? '' : `held AS (${claims}), `}message AS (
    INSERT INTO messages (id, project_id, mailbox_id, contact_id, template_id, needs_consent, copy_of, email, email_key, subject, tags, metadata, not_before, state, answer, unsent_at, dispatched_at, traceparent)
    SELECT id, project_id, mailbox_id, contact_id, template_id, needs_consent, copy_of, email, email_key, subject, tags, metadata, coalesce(not_before, now()), state, answer,
      CASE state WHEN 'suppressed' THEN now() END, CASE state WHEN 'suppressed' THEN now() END, $3
    FROM json_to_recordset($1::json) AS m(id text, project_id text, mailbox_id text, contact_id text, template_id text, needs_consent bool, copy_of text, email text, email_key text, subject text, tags jsonb,
      metadata jsonb, not_before timestamptz, state message_state, answer text, key_claim text)
    ${ifHeld('m')}
  ), content AS (
    INSERT INTO message_contents (message_id, "from", "to", cc, bcc, reply_to, html, text, html_text, headers, track_opens,
      track_clicks, scheduled_at)
    SELECT message_id, "from", "to", cc, bcc, reply_to, html, text, html_text, headers, track_opens, track_clicks,
      scheduled_at
    FROM json_to_recordset($2::json) AS c(message_id text, "from" text, "to" jsonb, cc jsonb, bcc jsonb, reply_to jsonb,
      html text, text text, html_text text, headers jsonb, track_opens bool, track_clicks bool, scheduled_at timestamptz, key_claim text)
    ${ifHeld('c')}
  )
  SELECT ${claims === undefined ? 'NULL AS id WHERE false' : 'id FROM held'}`;
};
const INSERT = insertSql();
const INSERT_CLAIMED = insertSql(settleClaims('$4'));

/**
 * Inserts transactional emails and wakes their dispatcher, in the caller's transaction if there is one.
 * @returns the ids of the claims that held; the emails of the others were not inserted.
 */
export async function insertEmails({ messages, contents, claims }: EmailRows, tx?: Tx): Promise<Set<string>> {
  const values = [JSON.stringify(messages), JSON.stringify(contents), currentTraceparent()];
  const queues = new Set(messages.map((message) => queueOf(message['project_id'] as string)));
  const statement =
    claims.length === 0
      ? { name: 'emails-insert', text: INSERT, values }
      : { name: 'emails-insert-claimed', text: INSERT_CLAIMED, values: [...values, JSON.stringify(claims)] };
  let rows: { id: string }[];
  if (tx !== undefined) {
    rows = await sql(tx, statement.text, statement.values);
    for (const queue of queues) await announce(tx, queue);
  } else {
    ({ rows } = await pool.query<{ id: string }>(statement));
    for (const queue of queues) notifySoon(queue);
  }
  return new Set(rows.map(({ id }) => id));
}

/** Adds the attachments of an email. */
export async function insertAttachments(tx: Tx, messageId: string, attachments: readonly AttachmentRow[]) {
  for (const [index, { filename, contentType, contentId, content, alternative, beforeHtml }] of attachments.entries()) {
    const position = beforeHtml ? index - attachments.length : index;
    await sql(
      tx,
      `INSERT INTO message_attachments (message_id, position, filename, content_type, content_id, content, alternative)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [messageId, position, filename, contentType, contentId, content, alternative],
    );
  }
}

/** The messages of an email that can still be sent. Those that are being claimed are locked, and skip this one's locks in turn. */
const LOCK_OPEN = `
  SELECT id, state = 'planned' AND dispatched_at IS NULL AND deferred_at IS NULL AND not_before > now() AS "isScheduled"
  FROM messages WHERE (id = $1 OR copy_of = $1) AND campaign_id IS NULL AND state NOT IN ('suppressed', 'canceled')
  ORDER BY id FOR NO KEY UPDATE`;

/**
 * Moves a transactional email to another time, for all of its recipients or none.
 * @returns false if it is not scheduled, or no longer for one of them.
 */
export function rescheduleMessages(id: string, scheduledAt: Date): Promise<boolean> {
  return inTransaction(async (tx) => {
    const open = await sql<{ id: string; isScheduled: boolean }>(tx, LOCK_OPEN, [id]);
    if (open.length === 0 || !open.every(({ isScheduled }) => isScheduled)) return false;
    await sql(tx, 'UPDATE messages SET not_before = $2 WHERE id = ANY ($1)', [
      open.map((each) => each.id),
      scheduledAt,
    ]);
    await sql(tx, 'UPDATE message_contents SET scheduled_at = $2 WHERE message_id = $1', [id, scheduledAt]);
    return true;
  });
}
