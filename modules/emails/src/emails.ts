import {
  answerOnce,
  countUpTo,
  assertValid,
  db,
  DomainError,
  emailKey,
  idempotencyConflict,
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
  runCostly,
  type RowsQuery,
  sql,
  coalesceByProject,
  storedEmailKey,
  type KeyClaim,
  settledClaim,
  type SettledClaim,
  type Tx,
  normalizeText,
} from '@postroom/platform';
import {
  Problems,
  type ReadEmail,
  readEmail,
  recipientsOf,
  scheduleProblem,
  type SendEmailInput,
} from './email-input.ts';
import { messagesWithOutcome, type OutcomeFilter } from './email-outcomes.ts';
import { ContentBudget, MAX_BATCH_LENGTH, type RenderedContent, renderContent } from './render-content.ts';
import { formatMailbox } from './mailbox.ts';
import { senderStatus } from '@postroom/transports';
import {
  cancelPlanned,
  type EmailRows as LedgerRows,
  type EmailStatus,
  insertAttachments,
  insertEmails,
  rescheduleMessages,
  STATUS_CONDITIONS,
} from '@postroom/ledger';

type Message = Prisma.MessageModel;

/** The immediate response to a send request. */
export interface QueuedEmail {
  id: string;
  status: 'queued' | 'scheduled' | 'suppressed';
}

/** A validated email with rendered content, and the template that it counts for in segments. */
interface Draft extends ReadEmail, RenderedContent {
  templateId: string | null;
}

/** The most emails per request. */
const MAX_BATCH = 100;

/**
 * Accepts a transactional email. Its rows are committed before this returns, so it is sent even after a crash. A recipient
 * that bounced, complained or was suppressed manually is recorded as suppressed. Recipients that unsubscribed from campaigns
 * still receive transactional mail.
 * @param claim of the request's idempotency key: its response is committed with the rows.
 * @throws DomainError `validation_error` naming each invalid field, `forbidden` if the sender's domain may not send,
 * `idempotency_conflict` if another request has taken over the claim; nothing is sent then.
 */
export async function sendEmail(projectId: string, input: SendEmailInput, claim?: KeyClaim): Promise<QueuedEmail> {
  const [email] = await acceptEmails(
    projectId,
    [input],
    () => '',
    ([sent]) => claim && settledClaim(claim, { sendEmail: sent }),
  );
  return email as QueuedEmail;
}

/** Accepts up to 100 emails, all or none. @throws DomainError as `sendEmail`, with the fields of each under `emails.<index>.`. */
export async function sendEmails(
  projectId: string,
  inputs: readonly SendEmailInput[],
  claim?: KeyClaim,
): Promise<QueuedEmail[]> {
  if (inputs.length === 0 || inputs.length > MAX_BATCH) {
    throw invalid({ field: 'emails', message: `must be 1 to ${MAX_BATCH} emails` });
  }
  return acceptEmails(
    projectId,
    inputs,
    (index) => `emails.${index}.`,
    (sent) => claim && settledClaim(claim, { sendEmails: sent }),
  );
}

/**
 * Accepts the emails made from one submitted mail, as `sendEmail` does, all or none. A second call with the same key within
 * 24 hours returns the first result. Key and rows are committed in one transaction.
 */
export async function sendEmailsOnce(
  projectId: string,
  inputs: readonly SendEmailInput[],
  key: string | undefined,
): Promise<QueuedEmail[]> {
  const emails = await draftEmails(projectId, inputs, () => '');
  const queued = emails.map(({ id, status }) => ({ id, status }));
  return inTransaction(async (client) => {
    const earlier = key === undefined ? undefined : await answerOnce(client, projectId, key, JSON.stringify(queued));
    if (earlier !== undefined) return [JSON.parse(earlier) as QueuedEmail | QueuedEmail[]].flat();
    await insert(emails, { tx: client });
    return queued;
  });
}

async function acceptEmails(
  projectId: string,
  inputs: readonly SendEmailInput[],
  pathOf: (index: number) => string,
  settle: (sent: readonly QueuedEmail[]) => SettledClaim | undefined,
): Promise<QueuedEmail[]> {
  const emails = await draftEmails(projectId, inputs, pathOf);
  const sent = emails.map(({ id, status }) => ({ id, status }));
  await insert(emails, { claim: settle(sent) });
  return sent;
}

/** Validates emails and builds their rows. */
async function draftEmails(
  projectId: string,
  inputs: readonly SendEmailInput[],
  pathOf: (index: number) => string,
): Promise<EmailRows[]> {
  const problems = new Problems();
  const read = inputs.map((input, index) => readEmail(input, problems, pathOf(index)));
  const valid = problems.found.length === 0 ? read : [];
  const addresses = valid.flatMap(recipientsOf).map(({ email }) => email);
  const shared = { isOneOfMany: inputs.length > 1, budget: new ContentBudget(MAX_BATCH_LENGTH) };
  // Concurrently, since each queries the database. Validation problems are reported before suppressions or sender problems.
  const [contents, suppressed, mailboxes] = await Promise.allSettled([
    Promise.all(
      inputs.map((input, index) => renderContent(projectId, input, problems, { path: pathOf(index), ...shared })),
    ),
    suppressedAddresses(projectId, addresses),
    checkSenders(projectId, valid, pathOf),
  ]);
  const rendered = valueOf(contents);
  assertValid(problems.found);
  const [reasons, accounts] = [valueOf(suppressed), valueOf(mailboxes)];
  const drafts = read.map((email, index): Draft => {
    // Mail submitted over SMTP does not count for its template.
    const templateId = email.recipients === undefined ? (inputs[index]?.templateId ?? null) : null;
    return { ...email, ...(rendered[index] as RenderedContent), templateId };
  });
  return drafts.map((draft) =>
    rowsOf({ projectId, mailboxId: accounts.get(draft.from.email) ?? null }, draft, reasons),
  );
}

function valueOf<T>(result: PromiseSettledResult<T>): T {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}

/** Checks that each sender may send, and returns its mailbox account, if any. @throws DomainError `forbidden`, naming each field. */
export async function checkSenders(
  projectId: string,
  emails: readonly ReadEmail[],
  pathOf: (index: number) => string = () => '',
): Promise<Map<string, string | null>> {
  const mailboxes = new Map<string, string | null>();
  const problems = new Map<string, string>();
  for (const from of new Set(emails.map(({ from }) => from.email))) {
    const { problem, mailboxId } = await senderStatus(projectId, from);
    if (problem !== undefined) problems.set(from, problem);
    mailboxes.set(from, mailboxId);
  }
  const [first] = problems.values();
  if (first === undefined) return mailboxes;
  const details = emails.flatMap(({ from }, index) => {
    const message = problems.get(from.email);
    return message === undefined ? [] : [{ field: `${pathOf(index)}from`, message }];
  });
  throw new DomainError('forbidden', first, details);
}

/** The strongest reason, keyed by `<project id> <email key>`; `unsubscribed` is the weakest. */
const suppressionOf = coalesceReads<string>(async (keys) => {
  const pairs = keys.map((pair) => [pair.slice(0, pair.indexOf(' ')), pair.slice(pair.indexOf(' ') + 1)] as const);
  const { rows } = await pool.query<{ project: string; email_key: string; reason: string }>({
    name: 'emails-suppressed',
    text: `SELECT project, requested.email_key, min(reason)::text AS reason FROM unnest($1::text[], $2::text[]) AS requested(project, email_key)
      JOIN suppressions s ON s.project_id = requested.project
        AND s.email_key IN (requested.email_key, erased_key(requested.project, requested.email_key))
      GROUP BY project, requested.email_key`,
    values: [pairs.map(([project]) => project), pairs.map(([, key]) => key)],
  });
  return new Map(rows.map(({ project, email_key, reason }) => [`${project} ${email_key}`, reason]));
});

/**
 * Suppression reasons of addresses that must not receive mail, by `emailKey`. Transactional mail needs no consent, so it goes to
 * addresses that are only unsubscribed.
 */
export async function suppressedAddresses(
  projectId: string,
  emails: readonly string[],
  { needsConsent = false } = {},
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const lookUp = async (key: string) => {
    const reason = await suppressionOf(`${projectId} ${key}`);
    if (reason !== undefined && (needsConsent || reason !== 'unsubscribed')) found.set(key, reason);
  };
  await Promise.all(emails.map((email) => lookUp(emailKey(email))));
  return found;
}

/** The `answer` that the ledger records for a suppressed address. */
export const suppressedAnswer = (reason: string) => `Not sent: the address is suppressed (${reason}).`;

export interface EmailRows extends QueuedEmail {
  projectId: string;
  draft: Draft;
  messages: Record<string, unknown>[];
}

/** The project of an email and its mailbox account; for mail that another module prepares, also its id and contact. */
interface Origin {
  projectId: string;
  mailboxId: string | null;
  id?: string;
  contactId?: string | undefined;
  needsConsent?: boolean;
}

/** Builds one ledger row per recipient; the first owns the content. */
export function rowsOf(
  { projectId, mailboxId, id = newId('eml'), contactId, needsConsent = false }: Origin,
  draft: Draft,
  suppressed: ReadonlyMap<string, string>,
): EmailRows {
  const messages = recipientsOf(draft).map(({ email }, index) => {
    const reason = suppressed.get(emailKey(email));
    return {
      id: index === 0 ? id : newId('eml'),
      project_id: projectId,
      mailbox_id: mailboxId,
      contact_id: contactId ?? null,
      template_id: draft.templateId,
      needs_consent: needsConsent,
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
  const isSendable = messages.some(({ state }) => state === 'planned');
  return {
    id,
    projectId,
    status: isSendable ? (draft.scheduledAt === null ? 'queued' : 'scheduled') : 'suppressed',
    draft,
    messages,
  };
}

/**
 * Inserts emails, in the caller's transaction if there is one.
 * @throws DomainError `idempotency_conflict` if the claim no longer holds.
 */
export async function insert(
  emails: readonly EmailRows[],
  { tx, claim }: { tx?: Tx | undefined; claim?: SettledClaim | undefined } = {},
): Promise<void> {
  const underClaim = (row: Record<string, unknown>) => (claim === undefined ? row : { ...row, key_claim: claim.id });
  const rows: Rows = {
    projectId: emails[0]?.projectId ?? '',
    messages: emails.flatMap(({ messages }) => messages.map(underClaim)),
    contents: emails.map((email) => underClaim(contentRow(email))),
    claims: claim === undefined ? [] : [claim],
  };
  const writeAll = async (within: Tx) => {
    assertHeld(await insertRows([rows], within));
    for (const { id, draft } of emails) await insertAttachments(within, id, draft.attachments);
  };
  if (tx !== undefined) return writeAll(tx);
  if (emails.some(({ draft }) => draft.attachments.length > 0)) return inTransaction(writeAll);
  const length = emails.reduce(
    (sum, { draft }) => sum + (draft.html?.length ?? 0) + (draft.text ?? draft.htmlText ?? '').length,
    0,
  );
  assertHeld(length > MAX_COALESCED_LENGTH ? await insertRows([rows]) : [await insertCoalesced(rows)]);
}

function assertHeld([isInserted]: readonly boolean[]): void {
  if (isInserted === true) return;
  throw idempotencyConflict('in_flight', 'A repetition of the request has taken over this Idempotency-Key.');
}

interface Rows extends LedgerRows {
  projectId: string;
}

/** Content of more characters is inserted individually, so that no statement grows without bound. */
const MAX_COALESCED_LENGTH = 100_000;

/** Commits emails of concurrent requests together, still before any of the requests is answered. */
const insertCoalesced = coalesceByProject<Rows, boolean>(({ projectId }) => projectId, insertRows);

/** @returns whether the emails of each request were inserted. */
async function insertRows(requests: readonly Rows[], tx?: Tx): Promise<boolean[]> {
  const held = await insertEmails(
    {
      messages: requests.flatMap(({ messages }) => messages),
      contents: requests.flatMap(({ contents }) => contents),
      claims: requests.flatMap(({ claims }) => claims),
    },
    tx,
  );
  return requests.map(({ claims }) => claims.every(({ id }) => held.has(id)));
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

/** An email of the project, transactional or of a campaign. @throws DomainError `not_found`. */
export async function getEmail(projectId: string, id: string, query: RowsQuery = {}): Promise<Message> {
  const where = { id, projectId, copyOf: null };
  const message = isId('eml', id) ? await db.message.findFirst({ ...query, where }) : null;
  if (message === null) throw notFound('email');
  return message;
}

export interface EmailFilter extends OutcomeFilter {
  status?: EmailStatus | null | undefined;
  /** A recipient address, including cc and bcc. */
  to?: string | null | undefined;
  tag?: string | null | undefined;
  /** Lists the messages of this campaign instead of transactional mail. */
  campaignId?: string | null | undefined;
  createdAfter?: Date | null | undefined;
  createdBefore?: Date | null | undefined;
}

/**
 * The project's emails, newest first: transactional mail, the messages of a campaign, or with an outcome both.
 * @throws DomainError `validation_error` for a period that does not fit the outcome; `not_found` for an unknown campaign.
 */
export async function listEmails(
  projectId: string,
  filter: EmailFilter,
  args: PageArgs,
  query: RowsQuery,
): Promise<Page<Message>> {
  if (filter.campaignId != null) await checkCampaign(projectId, filter.campaignId);
  const select = (before?: string) => {
    const values: unknown[] = [projectId];
    const parameter = (value: unknown) => `$${values.push(value)}`;
    const where = ['m.project_id = $1', 'm.copy_of IS NULL'];
    const hadOutcome = messagesWithOutcome(filter, parameter);
    if (hadOutcome !== undefined) where.push(`m.id IN (${hadOutcome})`);
    if (filter.campaignId != null) where.push(`m.campaign_id = ${parameter(filter.campaignId)}`);
    else if (hadOutcome === undefined) where.push('m.campaign_id IS NULL');
    if (before !== undefined) where.push(`m.id < ${parameter(before)}`);
    if (filter.status != null) where.push(STATUS_CONDITIONS[filter.status]);
    if (filter.to != null) where.push(sentTo(parameter(emailKey(filter.to)), filter));
    if (filter.tag != null) where.push(`m.tags ? ${parameter(normalizeText(filter.tag))}`);
    if (filter.createdAfter != null) where.push(`m.created_at > ${parameter(filter.createdAfter)}`);
    if (filter.createdBefore != null) where.push(`m.created_at < ${parameter(filter.createdBefore)}`);
    return { from: `FROM messages m WHERE ${where.join(' AND ')}`, values, parameter };
  };
  const read = async ({ limit, before }: { limit: number; before: string | undefined }) => {
    const { from, values, parameter } = select(before);
    const text = `SELECT m.id ${from} ORDER BY m.id DESC LIMIT ${parameter(limit)}`;
    const page = () => sql<{ id: string }>(pool, text, values);
    const ids = (await (filter.outcome == null ? page() : runCostly(projectId, page))).map(({ id }) => id);
    return db.message.findMany({ ...query, where: { id: { in: ids } }, orderBy: { id: 'desc' } });
  };
  return readPage('eml', args, read, (limit) => {
    const { from, values } = select();
    const count = () => countUpTo(limit, `SELECT 1 ${from}`, values);
    return filter.outcome == null ? count() : runCostly(projectId, count);
  });
}

/** @throws DomainError `not_found`. */
async function checkCampaign(projectId: string, id: string): Promise<void> {
  const campaign = isId('cmp', id)
    ? await db.campaign.findFirst({ select: { id: true }, where: { id, projectId } })
    : null;
  if (campaign === null) throw notFound('campaign');
}

function sentTo(key: string, { campaignId, outcome }: EmailFilter): string {
  if (campaignId != null || outcome != null) return `${messageKeySql('m')} = ${key}`;
  return `m.id IN (SELECT coalesce(t.copy_of, t.id) FROM messages t
    WHERE t.project_id = $1 AND t.campaign_id IS NULL AND ${messageKeySql('t')} = ${key})`;
}

/**
 * Cancels the unsent messages of a transactional email. Those that are being sent, or were, stay.
 * @throws DomainError `not_found`, `conflict` if none is left to cancel.
 */
export async function cancelEmail(projectId: string, id: string): Promise<void> {
  await getEmail(projectId, id);
  const canceled = await cancelPlanned('(id = $1 OR copy_of = $1)', id, 'Canceled by request.');
  if (canceled === 0)
    throw new DomainError(
      'conflict',
      'This email can no longer be canceled, because it has already been sent or closed.',
    );
}

/**
 * Reschedules an email, for all of its recipients or none.
 * @throws DomainError `not_found`, `validation_error` for a time in the past, `conflict` if it is no longer scheduled, or is already being
 * sent to one of its recipients.
 */
export async function rescheduleEmail(projectId: string, id: string, scheduledAt: Date): Promise<void> {
  await getEmail(projectId, id);
  const problem = scheduleProblem(scheduledAt);
  if (problem !== undefined) throw invalid({ field: 'scheduledAt', message: problem });
  if (!(await rescheduleMessages(id, scheduledAt)))
    throw new DomainError(
      'conflict',
      'Only a scheduled email can be rescheduled; this one is not scheduled or is already being sent, at least to some of its recipients.',
    );
}
