import { randomBytes } from 'node:crypto';
import { contactDeleted } from '@postroom/contacts';
import {
  retryOn,
  DEADLOCK,
  inTransaction,
  LOCK_NOT_AVAILABLE,
  messageKeySql,
  newId,
  record,
  sql,
  type Tx,
} from '@postroom/platform';
import { findDataSubject, type DataSubject, type DataSubjectRef } from './data-subject.ts';

/** Counts of what an erasure changed. */
export interface Erased {
  /** Messages anonymized. */
  messages: number;
  /** Events anonymized. */
  events: number;
  /** Planned messages that were canceled. */
  canceled: number;
}

/**
 * Erases a person from the project in one transaction. Deletes the contact, anonymizes its messages and events, and cancels
 * planned mail. Its current and previous addresses are kept only as hashes, so that none is ever mailed or imported again.
 * Integrations receive `contact.deleted` with the contact's id.
 * @throws DomainError as `findDataSubject`.
 */
export const erasePerson = (projectId: string, ref: DataSubjectRef): Promise<Erased> =>
  retryOn(LOCK_ERRORS, () => inTransaction((tx) => eraseIn(tx, projectId, ref)), { attempts: 30 });

/** A lock timeout or a deadlock; the transaction is retried. */
const LOCK_ERRORS = [LOCK_NOT_AVAILABLE, DEADLOCK];

/**
 * Locks rows in a different order than senders do, so the lock timeout is shorter than PostgreSQL's deadlock timeout. The erasure
 * backs out and retries before a sender could be aborted.
 */
async function eraseIn(tx: Tx, projectId: string, ref: DataSubjectRef): Promise<Erased> {
  await sql(tx, 'SELECT lock_suppressions($1)::text', [projectId]);
  await sql(tx, `SET LOCAL lock_timeout = '400ms'`);
  const person = await findDataSubject(tx, projectId, ref);
  // Random, so it does not identify the person, and at a domain that never receives mail.
  const alias = `erased-${randomBytes(8).toString('hex')}@erased.invalid`;
  await sql(tx, 'DELETE FROM contacts WHERE project_id = $1 AND id = $2', [projectId, person.contactId]);
  await sql(tx, 'DELETE FROM contact_addresses WHERE project_id = $1 AND (contact_id = $2 OR email_key = ANY ($3))', [
    projectId,
    person.contactId,
    person.keys,
  ]);
  await sql(tx, 'DELETE FROM group_opt_outs WHERE contact_id = $1', [person.contactId]);
  await keepHash(tx, person);
  const erased = {
    canceled: (await cancel(tx, person)) + (await withdraw(tx, person)),
    ...(await anonymize(tx, person, alias)),
  };
  for (const column of REDACTED_COLUMNS) await redact(tx, person, alias, column);
  if (person.isContact && person.contactId !== null) {
    await record(tx, projectId, [contactDeleted({ id: person.contactId, email: alias, name: '' })]);
  }
  return erased;
}

async function keepHash(tx: Tx, { projectId, keys }: DataSubject): Promise<void> {
  await sql(tx, 'DELETE FROM suppressions WHERE project_id = $1 AND email_key = ANY ($2)', [projectId, keys]);
  await sql(tx, 'DELETE FROM soft_bounce_streaks WHERE project_id = $1 AND email_key = ANY ($2)', [projectId, keys]);
  await sql(
    tx,
    `INSERT INTO suppressions (id, project_id, email, email_key, reason)
     SELECT id, $1, 'erased', erased_key($1, key), 'manual' FROM unnest($2::text[], $3::text[]) AS t(key, id)
     ON CONFLICT DO NOTHING`,
    [projectId, keys, keys.map(() => newId('sup'))],
  );
}

/** Cancels planned transactional mail. */
async function cancel(tx: Tx, { projectId, keys, contactId }: DataSubject): Promise<number> {
  const canceled = await sql(
    tx,
    `UPDATE messages SET state = 'canceled', unsent_at = now(), dispatched_at = coalesce(dispatched_at, now()), workflow_id = NULL,
       answer = 'Not sent: the person was erased.'
     WHERE project_id = $1 AND (${messageKeySql('messages')} = ANY ($2) OR contact_id = $3) AND campaign_id IS NULL AND state = 'planned'
     RETURNING id`,
    [projectId, keys, contactId],
  );
  return canceled.length;
}

/**
 * Suppresses the person's planned messages in running campaigns and updates their counters. Locks the campaigns first, so that
 * no send run claims one of these messages meanwhile.
 */
async function withdraw(tx: Tx, { projectId, keys, contactId }: DataSubject): Promise<number> {
  const OF_PERSON = `m.project_id = $1 AND (${messageKeySql('m')} = ANY ($2) OR m.contact_id = $3) AND m.campaign_id IS NOT NULL AND m.state = 'planned'`;
  const values = [projectId, keys, contactId];
  await sql(
    tx,
    `SELECT FROM campaigns WHERE id IN (SELECT m.campaign_id FROM messages m WHERE ${OF_PERSON}) ORDER BY id FOR NO KEY UPDATE`,
    values,
  );
  const withdrawn = await sql<{ campaign_id: string }>(
    tx,
    `UPDATE messages m SET state = 'suppressed', answer = 'Not sent: the person was erased.', unsent_at = now(), not_before = NULL
     WHERE ${OF_PERSON} RETURNING m.campaign_id`,
    values,
  );
  await sql(
    tx,
    `UPDATE campaigns c SET suppressed_count = suppressed_count + w.count
     FROM (SELECT id, count(*)::int FROM unnest($1::text[]) AS id GROUP BY id) AS w WHERE c.id = w.id`,
    [withdrawn.map((row) => row.campaign_id)],
  );
  return withdrawn.length;
}

/** Removes personal data from the person's own messages, contents, hits and events; keeps the rows for statistics. */
async function anonymize(
  tx: Tx,
  { projectId, keys, spellings, contactId }: DataSubject,
  alias: string,
): Promise<{ messages: number; events: number }> {
  const messages = await sql<{ id: string; content: string }>(
    tx,
    `UPDATE messages SET email = $4, email_key = NULL, subject = CASE WHEN subject IS NOT NULL THEN '' END, tags = NULL, metadata = NULL,
       answer = CASE WHEN NOT EXISTS (SELECT FROM unnest($5::text[]) AS key WHERE position(key IN lower(answer)) > 0) THEN answer END
     WHERE project_id = $1 AND (${messageKeySql('messages')} = ANY ($2) OR contact_id = $3) RETURNING id, coalesce(copy_of, id) AS content`,
    [projectId, keys, contactId, alias, spellings],
  );
  const ids = messages.map(({ id }) => id);
  const contents = messages.map(({ content }) => content);
  await sql(tx, 'DELETE FROM message_attachments WHERE message_id = ANY ($1)', [contents]);
  await sql(
    tx,
    `UPDATE message_contents SET html = NULL, text = '', html_text = NULL, headers = '{}' WHERE message_id = ANY ($1)`,
    [contents],
  );
  await sql(tx, 'UPDATE tracking_hits SET user_agent = NULL, network = NULL WHERE message_id = ANY ($1)', [ids]);
  const events = await sql<{ id: string }>(
    tx,
    `UPDATE events SET data = (
       SELECT json_object_agg(d.key, CASE
           WHEN d.key = 'email' THEN to_json($4::text)
           WHEN d.key IN ('name', 'subject') AND json_typeof(d.value) = 'string' THEN '""'::json
           WHEN d.key = 'metadata' THEN '{}'::json
           WHEN d.key IN ('tags') THEN '[]'::json
           WHEN d.key IN ('user_agent', 'network', 'ip') THEN 'null'::json
           ELSE d.value END)
         FROM json_each(data) AS d)
     WHERE project_id = $1
       AND (lower(data->>'email') = ANY ($2) OR data->>'contact_id' = $3 OR data->>'message_id' = ANY ($5) AND data->>'email' = $4)
     RETURNING id`,
    [projectId, spellings, contactId, alias, ids],
  );
  return { messages: ids.length, events: events.length };
}

/** A column that may contain an address among other content; the address is replaced by the alias. */
interface RedactedColumn {
  table: string;
  column: string;
  type: 'text' | 'json' | 'jsonb';
  /** SQL condition that selects the rows of the project, `$1`. */
  where: string;
}

const OWN = 'project_id = $1';
const OF_MESSAGES = 'message_id IN (SELECT id FROM messages WHERE project_id = $1)';
const OF_DELIVERIES = 'delivery_id IN (SELECT id FROM deliveries WHERE project_id = $1)';
const OF_IMPORTS = 'import_id IN (SELECT id FROM imports WHERE project_id = $1)';

/** Every other column that may contain an address. A test searches every column of every table for leftovers. */
const REDACTED_COLUMNS: readonly RedactedColumn[] = [
  ...(['to', 'cc', 'bcc', 'reply_to', 'headers'] as const).map((column): RedactedColumn => ({
    table: 'message_contents',
    column,
    type: 'jsonb',
    where: OF_MESSAGES,
  })),
  ...(['from', 'html', 'text', 'html_text'] as const).map((column): RedactedColumn => ({
    table: 'message_contents',
    column,
    type: 'text',
    where: OF_MESSAGES,
  })),
  { table: 'message_attachments', column: 'filename', type: 'text', where: OF_MESSAGES },
  { table: 'message_attachments', column: 'content_id', type: 'text', where: OF_MESSAGES },
  { table: 'messages', column: 'subject', type: 'text', where: OWN },
  { table: 'messages', column: 'answer', type: 'text', where: OWN },
  { table: 'messages', column: 'tags', type: 'jsonb', where: OWN },
  { table: 'messages', column: 'metadata', type: 'jsonb', where: OWN },
  { table: 'events', column: 'data', type: 'json', where: OWN },
  { table: 'attempts', column: 'response', type: 'text', where: OF_DELIVERIES },
  { table: 'attempts', column: 'error', type: 'text', where: OF_DELIVERIES },
  { table: 'attempts', column: 'headers', type: 'json', where: OF_DELIVERIES },
  { table: 'idempotency_keys', column: 'body', type: 'text', where: OWN },
  { table: 'idempotency_keys', column: 'key', type: 'text', where: OWN },
  { table: 'imports', column: 'file_name', type: 'text', where: OWN },
  { table: 'imports', column: 'plan', type: 'jsonb', where: OWN },
  { table: 'import_errors', column: 'message', type: 'text', where: OF_IMPORTS },
  { table: 'audit_entries', column: 'details', type: 'jsonb', where: OWN },
  { table: 'segments', column: 'filter', type: 'jsonb', where: OWN },
  {
    table: 'tracked_links',
    column: 'url',
    type: 'text',
    where: `owner_id IN (SELECT id FROM campaigns WHERE project_id = $1 UNION ALL SELECT id FROM messages WHERE project_id = $1)`,
  },
];

async function redact(
  tx: Tx,
  { projectId, spellings }: DataSubject,
  alias: string,
  target: RedactedColumn,
): Promise<void> {
  const { table, column, type, where } = target;
  await sql(
    tx,
    `UPDATE ${table} SET "${column}" = regexp_replace("${column}"::text, $2, $3, 'gi')::${type}
     WHERE ${where} AND "${column}"::text ~* $2`,
    [projectId, patternOf(spellings), alias],
  );
}

/** Matches a whole address, also URL-encoded. Other addresses may start or end with the same characters. */
function patternOf(spellings: readonly string[]): string {
  const addresses = spellings.map((spelling) => {
    const [local = '', host = ''] = spelling.split('@').map((part) => part.replace(/[^\p{L}\p{N}]/gu, '\\$&'));
    return `${local}(?:@|%40)${host}`;
  });
  return `(?<![\\w.+-])(?:${addresses.join('|')})(?![\\w-]|\\.\\w)`;
}
