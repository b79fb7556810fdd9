import {
  countUpTo,
  assertValid,
  db,
  DomainError,
  emailKey,
  inTransaction,
  invalid,
  isId,
  messageKeySql,
  newId,
  notFound,
  type Page,
  type PageArgs,
  pool,
  type Prisma,
  readPage,
  coalesceReads,
  type RowsQuery,
  sql,
  togetherByProject,
  storedEmailKey,
  type Tx,
} from '@postroom/platform';
import {
  Problems,
  type ReadEmail,
  readEmail,
  recipientsOf,
  scheduleProblem,
  type SendEmailInput,
} from './email-input.ts';
import { type RenderedContent, renderContent } from './render-content.ts';
import { formatMailbox } from './mailbox.ts';
import { senderStatus } from '@postroom/transports';
import { cancelPlanned, type EmailStatus, STATUS_CONDITIONS } from '@postroom/ledger';

type Message = Prisma.MessageModel;

/** What the caller is told of an email at once. */
export interface QueuedEmail {
  id: string;
  status: 'queued' | 'scheduled' | 'suppressed';
}

/** An email that may go out: checked, worded, and with the addresses that must not get it. */
interface Draft extends ReadEmail, RenderedContent {}

/** Emails that one request may send at most. */
export const MAX_BATCH = 100;

/**
 * Takes a transactional email: when this returns, its rows are committed, and it goes out whatever crashes. An address
 * that bounced, complained or was suppressed by hand is recorded as suppressed; one that unsubscribed from campaigns is
 * not, since this is not one.
 * @throws DomainError `validation_error` naming each bad field, `forbidden` when the sender's domain may not send.
 */
export async function sendEmail(projectId: string, input: SendEmailInput): Promise<QueuedEmail> {
  const [email] = await acceptEmails(projectId, [input], () => '');
  return email as QueuedEmail;
}

/** Takes up to 100 emails, all or none. @throws DomainError as `sendEmail`, with the fields of each under `emails.<index>.`. */
export async function sendEmails(projectId: string, inputs: readonly SendEmailInput[]): Promise<QueuedEmail[]> {
  if (inputs.length === 0 || inputs.length > MAX_BATCH) {
    throw invalid({ field: 'emails', message: `must be 1 to ${MAX_BATCH} emails` });
  }
  return acceptEmails(projectId, inputs, (index) => `emails.${index}.`);
}

/**
 * Takes the emails that one mail becomes, as `sendEmail` does, all or none; under the same key again within 24 hours, what came of the
 * first is returned. The key and the rows are one transaction.
 */
export async function sendEmailsOnce(
  projectId: string,
  inputs: readonly SendEmailInput[],
  key: string | undefined,
): Promise<QueuedEmail[]> {
  const emails = await draftEmails(projectId, inputs, () => '');
  const queued = emails.map(({ id, status }) => ({ id, status }));
  return inTransaction(async (client) => {
    const isNew =
      key === undefined || (await client.query(CLAIM_KEY, [projectId, key, JSON.stringify(queued)])).rowCount === 1;
    if (isNew) {
      await insert(emails, client);
      return queued;
    }
    const { rows } = await client.query<{ body: string }>(
      'SELECT body FROM idempotency_keys WHERE project_id = $1 AND key = $2',
      [projectId, key],
    );
    return [JSON.parse(rows[0]?.body ?? '[]') as QueuedEmail | QueuedEmail[]].flat();
  });
}

/** Waits for another transaction that has the key in hand; what is older than a day is claimed anew. */
const CLAIM_KEY = `
  INSERT INTO idempotency_keys (project_id, key, fingerprint, status, body) VALUES ($1, $2, $2, 202, $3)
  ON CONFLICT (project_id, key) DO UPDATE SET body = $3, created_at = now()
    WHERE idempotency_keys.created_at < now() - interval '24 hours'
  RETURNING key`;

async function acceptEmails(
  projectId: string,
  inputs: readonly SendEmailInput[],
  pathOf: (index: number) => string,
): Promise<QueuedEmail[]> {
  const emails = await draftEmails(projectId, inputs, pathOf);
  await insert(emails);
  return emails.map(({ id, status }) => ({ id, status }));
}

/** Checks emails and writes down what their rows will be. */
async function draftEmails(
  projectId: string,
  inputs: readonly SendEmailInput[],
  pathOf: (index: number) => string,
): Promise<EmailRows[]> {
  const problems = new Problems();
  const read = inputs.map((input, index) => readEmail(input, problems, pathOf(index)));
  const sound = problems.found.length === 0 ? read : [];
  const addresses = sound.flatMap(recipientsOf).map(({ email }) => email);
  // All at once, since each asks the database; what is wrong with the request is said before what stands against it.
  const [words, suppressed, mailboxes] = await Promise.allSettled([
    Promise.all(inputs.map((input, index) => renderContent(projectId, input, problems, pathOf(index)))),
    suppressedAddresses(projectId, addresses),
    checkSenders(projectId, sound),
  ]);
  const written = valueOf(words);
  assertValid(problems.found);
  const [reasons, accounts] = [valueOf(suppressed), valueOf(mailboxes)];
  const drafts = read.map((email, index): Draft => ({ ...email, ...(written[index] as RenderedContent) }));
  return drafts.map((draft) =>
    rowsOf({ projectId, mailboxId: accounts.get(draft.from.email) ?? null }, draft, reasons),
  );
}

function valueOf<T>(result: PromiseSettledResult<T>): T {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}

/** Whether each sender may send now, and the mailbox account that its mail goes by, if it has one. */
async function checkSenders(projectId: string, emails: readonly ReadEmail[]): Promise<Map<string, string | null>> {
  const mailboxes = new Map<string, string | null>();
  for (const from of new Set(emails.map(({ from }) => from.email))) {
    const { problem, mailboxId } = await senderStatus(projectId, from);
    if (problem !== undefined) throw new DomainError('forbidden', problem, [{ field: 'from', message: problem }]);
    mailboxes.set(from, mailboxId);
  }
  return mailboxes;
}

/** By the project's id and the address's key, with a space between. */
const suppressionOf = coalesceReads<string>(async (asked) => {
  const pairs = asked.map((pair) => [pair.slice(0, pair.indexOf(' ')), pair.slice(pair.indexOf(' ') + 1)] as const);
  const { rows } = await pool.query<{ project: string; email_key: string; reason: string }>({
    name: 'emails-suppressed',
    text: `SELECT project, asked.email_key, min(reason)::text AS reason FROM unnest($1::text[], $2::text[]) AS asked(project, email_key)
      JOIN suppressions s ON s.project_id = asked.project
        AND s.email_key IN (asked.email_key, erased_key(asked.project, asked.email_key))
      WHERE reason <> 'unsubscribed' GROUP BY project, asked.email_key`,
    values: [pairs.map(([project]) => project), pairs.map(([, key]) => key)],
  });
  return new Map(rows.map(({ project, email_key, reason }) => [`${project} ${email_key}`, reason]));
});

/** Why addresses are not to get transactional mail, by `emailKey`. */
export async function suppressedAddresses(projectId: string, emails: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const look = async (key: string) => {
    const reason = await suppressionOf(`${projectId} ${key}`);
    if (reason !== undefined) found.set(key, reason);
  };
  await Promise.all(emails.map((email) => look(emailKey(email))));
  return found;
}

/** An answer for the ledger of an address that is not mailed. */
export const suppressedAnswer = (reason: string) => `Not sent: the address is suppressed (${reason}).`;

interface EmailRows extends QueuedEmail {
  projectId: string;
  draft: Draft;
  messages: Record<string, unknown>[];
}

/** One row of the ledger for each address; the first holds the content. */
function rowsOf(
  { projectId, mailboxId }: { projectId: string; mailboxId: string | null },
  draft: Draft,
  suppressed: ReadonlyMap<string, string>,
): EmailRows {
  const id = newId('eml');
  const messages = recipientsOf(draft).map(({ email }, index) => {
    const reason = suppressed.get(emailKey(email));
    return {
      id: index === 0 ? id : newId('eml'),
      project_id: projectId,
      mailbox_id: mailboxId,
      copy_of: index === 0 ? null : id,
      email,
      email_key: storedEmailKey(email),
      subject: draft.subject,
      tags: draft.tags,
      metadata: draft.metadata,
      not_before: draft.scheduledAt,
      state: reason === undefined ? 'planned' : 'suppressed',
      answer: reason === undefined ? null : suppressedAnswer(reason),
    };
  });
  const goesOut = messages.some(({ state }) => state === 'planned');
  return {
    id,
    projectId,
    status: goesOut ? (draft.scheduledAt === null ? 'queued' : 'scheduled') : 'suppressed',
    draft,
    messages,
  };
}

/** Rows go in as JSON, whose members are named like columns: one statement, however many emails. */
const INSERT = `
  WITH message AS (
    INSERT INTO messages (id, project_id, mailbox_id, copy_of, email, email_key, subject, tags, metadata, not_before, state, answer, unsent_at, dispatched_at)
    SELECT id, project_id, mailbox_id, copy_of, email, email_key, subject, tags, metadata, coalesce(not_before, now()), state, answer,
      CASE state WHEN 'suppressed' THEN now() END, CASE state WHEN 'suppressed' THEN now() END
    FROM json_to_recordset($1::json) AS m(id text, project_id text, mailbox_id text, copy_of text, email text, email_key text, subject text, tags jsonb,
      metadata jsonb, not_before timestamptz, state message_state, answer text)
    RETURNING project_id
  ), content AS (
    INSERT INTO message_contents (message_id, "from", "to", cc, bcc, reply_to, html, text, html_text, headers, track_opens,
      track_clicks, scheduled_at)
    SELECT message_id, "from", "to", cc, bcc, reply_to, html, text, html_text, headers, track_opens, track_clicks,
      scheduled_at
    FROM json_to_recordset($2::json) AS c(message_id text, "from" text, "to" jsonb, cc jsonb, bcc jsonb, reply_to jsonb,
      html text, text text, html_text text, headers jsonb, track_opens bool, track_clicks bool, scheduled_at timestamptz)
  ) SELECT pg_notify('postroom', 'emails ' || project_id)::text FROM message GROUP BY project_id`;

async function insert(emails: readonly EmailRows[], tx?: Tx): Promise<void> {
  const rows = {
    projectId: emails[0]?.projectId ?? '',
    messages: emails.flatMap(({ messages }) => messages),
    contents: emails.map(contentRow),
  };
  const writeAll = async (within: Tx) => {
    await sql(within, INSERT, [JSON.stringify(rows.messages), JSON.stringify(rows.contents)]);
    for (const { id, draft } of emails) await insertAttachments(within, id, draft);
  };
  if (tx !== undefined) return writeAll(tx);
  if (emails.some(({ draft }) => draft.attachments.length > 0)) return inTransaction(writeAll);
  const length = emails.reduce(
    (sum, { draft }) => sum + (draft.html?.length ?? 0) + (draft.text ?? draft.htmlText ?? '').length,
    0,
  );
  await (length > LONG ? insertRows([rows]) : insertTogether(rows));
}

interface Rows {
  projectId: string;
  messages: Record<string, unknown>[];
  contents: Record<string, unknown>[];
}

/** Content of more characters than this goes in by itself, so that no statement grows without bound. */
const LONG = 100_000;

/** Emails that arrive at the same time are committed together: each still is when its request is answered. */
const insertTogether = togetherByProject<Rows, void>(({ projectId }) => projectId, insertRows);

async function insertRows(emails: readonly Rows[]): Promise<void[]> {
  const messages = JSON.stringify(emails.flatMap((email) => email.messages));
  const contents = JSON.stringify(emails.flatMap((email) => email.contents));
  await pool.query({ name: 'emails-insert', text: INSERT, values: [messages, contents] });
  return [];
}

function contentRow({ id, draft }: EmailRows): Record<string, unknown> {
  return {
    message_id: id,
    from: formatMailbox(draft.from),
    to: draft.to.map(formatMailbox),
    cc: draft.cc.map(formatMailbox),
    bcc: draft.bcc.map(formatMailbox),
    reply_to: draft.replyTo.map(formatMailbox),
    html: draft.html,
    text: draft.text,
    html_text: draft.htmlText,
    headers: draft.headers,
    track_opens: draft.trackOpens,
    track_clicks: draft.trackClicks,
    scheduled_at: draft.scheduledAt,
  };
}

async function insertAttachments(tx: Tx, messageId: string, { attachments }: Draft): Promise<void> {
  for (const [position, { filename, contentType, contentId, content, alternative }] of attachments.entries()) {
    await sql(
      tx,
      `INSERT INTO message_attachments (message_id, position, filename, content_type, content_id, content, alternative)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [messageId, position, filename, contentType, contentId, content, alternative],
    );
  }
}

/** An email of the project, transactional or of a campaign, or `not_found`. */
export async function getEmail(projectId: string, id: string, query: RowsQuery = {}): Promise<Message> {
  const where = { id, projectId, copyOf: null };
  const message = isId('eml', id) ? await db.message.findFirst({ ...query, where }) : null;
  if (message === null) throw notFound('email');
  return message;
}

export interface EmailFilter {
  status?: EmailStatus | null | undefined;
  /** An address that it went to, copies included. */
  to?: string | null | undefined;
  tag?: string | null | undefined;
  /** A campaign's messages; otherwise transactional mail is listed. */
  campaignId?: string | null | undefined;
  createdAfter?: Date | null | undefined;
  createdBefore?: Date | null | undefined;
}

/** The project's emails, newest first: transactional mail, or the messages of a campaign. */
export async function listEmails(
  projectId: string,
  filter: EmailFilter,
  args: PageArgs,
  query: RowsQuery = {},
): Promise<Page<Message>> {
  const select = (before?: string) => {
    const values: unknown[] = [projectId];
    const parameter = (value: unknown) => `$${values.push(value)}`;
    const where = ['m.project_id = $1', 'm.copy_of IS NULL'];
    where.push(filter.campaignId == null ? 'm.campaign_id IS NULL' : `m.campaign_id = ${parameter(filter.campaignId)}`);
    if (before !== undefined) where.push(`m.id < ${parameter(before)}`);
    if (filter.status != null) where.push(STATUS_CONDITIONS[filter.status]);
    if (filter.to != null) where.push(wentTo(parameter(emailKey(filter.to)), filter.campaignId));
    if (filter.tag != null) where.push(`m.tags ? ${parameter(filter.tag)}`);
    if (filter.createdAfter != null) where.push(`m.created_at > ${parameter(filter.createdAfter)}`);
    if (filter.createdBefore != null) where.push(`m.created_at < ${parameter(filter.createdBefore)}`);
    return { from: `FROM messages m WHERE ${where.join(' AND ')}`, values, parameter };
  };
  const read = async ({ limit, before }: { limit: number; before: string | undefined }) => {
    const { from, values, parameter } = select(before);
    const text = `SELECT m.id ${from} ORDER BY m.id DESC LIMIT ${parameter(limit)}`;
    const ids = (await sql<{ id: string }>(pool, text, values)).map(({ id }) => id);
    return db.message.findMany({ ...query, where: { id: { in: ids } }, orderBy: { id: 'desc' } });
  };
  return readPage('eml', args, read, (limit) => {
    const { from, values } = select();
    return countUpTo(limit, `SELECT 1 ${from}`, values);
  });
}

function wentTo(key: string, campaignId: string | null | undefined): string {
  if (campaignId != null) return `${messageKeySql('m')} = ${key}`;
  return `m.id IN (SELECT coalesce(t.copy_of, t.id) FROM messages t
    WHERE t.project_id = $1 AND t.campaign_id IS NULL AND ${messageKeySql('t')} = ${key})`;
}

/**
 * Stops what has not gone out of a transactional email.
 * @throws DomainError `not_found`, `conflict` when none of it is left to stop.
 */
export async function cancelEmail(projectId: string, id: string): Promise<void> {
  await getEmail(projectId, id);
  const stopped = await cancelPlanned('(id = $1 OR copy_of = $1)', id, 'Canceled on request.');
  if (stopped === 0) throw new DomainError('conflict', 'This email can not be canceled any more: nothing of it waits.');
}

/**
 * Moves a scheduled email to another time.
 * @throws DomainError `not_found`, `validation_error` for a time that is past, `conflict` when it is not scheduled any more.
 */
export async function rescheduleEmail(projectId: string, id: string, scheduledAt: Date): Promise<void> {
  await getEmail(projectId, id);
  const problem = scheduleProblem(scheduledAt);
  if (problem !== undefined) throw invalid({ field: 'scheduledAt', message: problem });
  const moved = await sql(
    pool,
    `WITH moved AS (
       UPDATE messages SET not_before = $2 WHERE (id = $1 OR copy_of = $1) AND campaign_id IS NULL AND state = 'planned'
         AND dispatched_at IS NULL AND deferred_at IS NULL AND not_before > now() RETURNING id
     ), content AS (
       UPDATE message_contents SET scheduled_at = $2 WHERE message_id = $1 AND EXISTS (SELECT FROM moved)
     ) SELECT id FROM moved`,
    [id, scheduledAt],
  );
  if (moved.length === 0) throw new DomainError('conflict', 'This email is not scheduled, or its time has come.');
}
