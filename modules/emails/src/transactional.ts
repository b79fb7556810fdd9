import { emailKey, FairSemaphore, isOutage, normalizeDomain } from '@postroom/platform';
import { suppressedAddresses, suppressedAnswer } from './emails.ts';
import { ledgerPool } from '@postroom/ledger';
import { markStaleClaimsUnknown, releaseClaims, settle, type Settlement } from '@postroom/ledger';
import { unexpected } from '@postroom/ledger';
import { parseMailbox } from './mailbox.ts';
import {
  type Attachment,
  buildMessage,
  compileMessage,
  compositionError,
  type Mailbox,
  MessageError,
} from '@postroom/mime';
import { type Backoff, runSendPipeline, type SendResult, UnrecordedError } from '@postroom/ledger';
import { renderTemplate, type Template, type TemplateFormat } from '@postroom/templates/render';
import { withRetries } from '@postroom/ledger';
import { textTemplateOf } from './fill-content-for-project.ts';
import { routeFor } from '@postroom/transports';
import { smtpPoolWidth } from '@postroom/transports';
import type { OutgoingMessage } from '@postroom/transports';
import type { SendOutcome } from '@postroom/smtp';
import { readTracking, storeLinks, trackHtml, type TrackedHtml } from '@postroom/tracking';

/** A row that has been claimed, as the claiming statement returns it. */
export interface ClaimedRow {
  id: string;
  project_id: string;
  mailbox_id: string | null;
  content_id: string;
  email: string;
  subject: string;
  deferrals: number;
  deferredAt: Date | null;
  /** How the project has it; null when it is gone. */
  tracks_opens: boolean | null;
  tracks_clicks: boolean | null;
}

interface Content {
  message_id: string;
  from: string;
  to: string[];
  cc: string[];
  reply_to: string[];
  html: string | null;
  text: string | null;
  /** Made from the HTML when the email was accepted. */
  html_text: string | null;
  headers: Record<string, string>;
  track_opens: boolean | null;
  track_clicks: boolean | null;
  /** Whether it has attachments. */
  attached: boolean;
}

/** A claimed row with what it says. */
export interface ReadyMessage extends ClaimedRow {
  content: Content | undefined;
  /** Its HTML with links through us; undefined when it has none. */
  tracked: TrackedHtml | undefined;
  /** Why it can't be sent. */
  problem: MessageError | undefined;
}

/** What is left of a workflow's messages after a turn. */
export interface BatchRun {
  /** Neither sent nor given up. */
  open: number;
  /** Milliseconds until the first of them goes again; 0 when none is left. */
  waitMs: number;
  /** Why the mail server takes nothing, when it takes nothing. */
  held: string | null;
  /** What became of messages in this turn: how many were accepted, failed … */
  counts: Partial<Record<Settlement['state'], number>>;
}

/** What a claim returns of the row `m`. */
export const CLAIMED_COLUMNS = `m.id, m.project_id, m.mailbox_id, coalesce(m.copy_of, m.id) AS content_id, m.email, m.subject,
    m.deferrals, m.deferred_at AS "deferredAt", (SELECT track_opens FROM projects p WHERE p.id = m.project_id) AS tracks_opens,
    (SELECT track_clicks FROM projects p WHERE p.id = m.project_id) AS tracks_clicks`;

/**
 * The rows that a workflow has in hand and that are due; each attempt of the activity claims a row once at most, so that a
 * settlement which the network repeats can not be taken for that of another send. Those of a mailbox account, which go
 * slowly, one by one.
 */
const CLAIM = `
  WITH due AS (
    SELECT id FROM messages WHERE workflow_id = $1 AND state = 'planned' AND not_before <= now() AND claim IS DISTINCT FROM $2
    ORDER BY id LIMIT CASE WHEN EXISTS (SELECT FROM messages WHERE workflow_id = $1 AND mailbox_id IS NOT NULL) THEN 1 ELSE $3 END
    FOR NO KEY UPDATE SKIP LOCKED
  )
  UPDATE messages m SET state = 'claimed', claim = $2, claimed_at = now(), not_before = NULL FROM due WHERE m.id = due.id
  RETURNING ${CLAIMED_COLUMNS}`;

/** Sends the due messages that a workflow has in hand, once each, and records what became of them. */
export async function sendBatchUntilDeadline(
  workflowId: string,
  claim: string,
  signal: AbortSignal,
): Promise<BatchRun> {
  await markStaleClaimsUnknown({ workflowId }, claim);
  const { hold, counts } = await sendClaimed(workflowId, claim, signal, {
    claim: (limit) => claimReady(workflowId, claim, limit),
    notice: 'emails',
  });
  const left = await standing(workflowId);
  return { ...left, waitMs: Math.max(left.waitMs, hold?.waitMs ?? 0), held: hold?.answer ?? null, counts };
}

/** Fails what a workflow has in hand and can't send, for a reason that people can read. */
export async function failBatch(workflowId: string, claim: string, reason: string): Promise<BatchRun> {
  await markStaleClaimsUnknown({ workflowId }, claim);
  const { rows } = await ledgerPool.query<{ id: string }>(
    `UPDATE messages SET state = 'claimed', claim = $2, claimed_at = now(), not_before = NULL
     WHERE workflow_id = $1 AND state = 'planned' RETURNING id`,
    [workflowId, claim],
  );
  const answer = `It could not be sent: ${reason}`.slice(0, 500);
  if (rows.length > 0)
    await settle(
      claim,
      rows.map(({ id }) => ({ id, state: 'failed', answer })),
      'emails',
    );
  return { open: 0, waitMs: 0, held: null, counts: { failed: rows.length } };
}

/** Where a workflow's messages come from. */
export interface Source {
  /** Claims up to so many messages for the workflow; none when the turn is over. */
  claim: (limit: number) => Promise<ReadyMessage[]>;
  /** Is told what became of messages once that is recorded; repeated when it fails. */
  settled?: (settlements: readonly Settlement[]) => Promise<void>;
  /** Who is told that messages are settled. */
  notice?: string;
}

/** Sends what is claimed for a workflow and records what becomes of it, until nothing is left or the way takes nothing. */
export async function sendClaimed(
  workflowId: string,
  claim: string,
  signal: AbortSignal,
  source: Source,
): Promise<{ hold: Backoff | undefined; counts: BatchRun['counts'] }> {
  const counts: BatchRun['counts'] = {};
  const record = async (settlements: readonly Settlement[]) => {
    await settle(claim, settlements, source.notice);
    await source.settled?.(settlements);
  };
  const senders = new Set<string>();
  try {
    const { hold } = await runSendPipeline<ReadyMessage>({
      width: smtpPoolWidth,
      claim: async (limit) => {
        const rows = await source.claim(limit);
        for (const { content } of rows) if (content !== undefined) senders.add(domainOf(content.from));
        return { rows, ratePerSecond: null };
      },
      send: async (row) => {
        const sent = await send(row);
        return senders.size > 1 ? { ...sent, outcome: ofItsSender(sent.outcome) } : sent;
      },
      settle: async (settlements) => {
        await withRetries(() => record(settlements), signal);
        for (const { state } of settlements) counts[state] = (counts[state] ?? 0) + 1;
      },
      signal,
    });
    return { hold, counts };
  } catch (error) {
    if (!(error instanceof UnrecordedError))
      await withRetries(async () => {
        // What was claimed when something unforeseen happened has perhaps caused it: it goes again a few times, by itself.
        if (isOutage(error)) await releaseClaims({ workflowId }, claim);
        else await releaseClaims({ workflowId }, claim, (row) => unexpected(row, error));
        await source.settled?.([]);
      }, signal);
    throw error;
  }
}

const domainOf = (from: string) => normalizeDomain(/@([^@>]+)>?$/.exec(from)?.[1] ?? '');

/** How long a message waits for its sender's way, when that names no time or has to be mended, in milliseconds. */
const SENDER_WAIT_MS = 60_000;

/** Senders may have ways of their own: among several, what is wrong with one's way puts off its messages and no other's. */
function ofItsSender(outcome: SendOutcome): SendOutcome {
  const isOfWay =
    outcome.kind === 'deferred'
      ? outcome.scope === 'host'
      : outcome.kind === 'refused' && outcome.verdict === 'configuration';
  if (!isOfWay) return outcome;
  const waitMs = outcome.kind === 'deferred' ? outcome.waitMs : undefined;
  return { kind: 'deferred', answer: outcome.answer, scope: 'message', waitMs: waitMs ?? SENDER_WAIT_MS };
}

/** Claims rows and reads what they say. Addresses that have been suppressed meanwhile are settled here. */
async function claimReady(workflowId: string, claim: string, limit: number): Promise<ReadyMessage[]> {
  for (;;) {
    const { rows } = await ledgerPool.query<ClaimedRow>({
      name: 'emails-claim',
      text: CLAIM,
      values: [workflowId, claim, Math.min(limit, 100)],
    });
    if (rows.length === 0) return [];
    const ready = await prepare(rows, claim);
    if (ready.length > 0) return ready;
  }
}

/** Reads what claimed rows say, and settles those whose address has been suppressed meanwhile. */
export async function prepare(rows: readonly ClaimedRow[], claim: string): Promise<ReadyMessage[]> {
  const [contents, reasons] = await Promise.all([
    readContents(rows.map(({ content_id }) => content_id)),
    suppressions(rows),
  ]);
  const suppressed = rows.filter(({ id }) => reasons.has(id));
  if (suppressed.length > 0)
    await settle(
      claim,
      suppressed.map(({ id }) => suppressedAs(id, reasons)),
      'emails',
    );
  const open = rows.filter(({ id }) => !reasons.has(id));
  const { tracked, problems } = await track(open, contents);
  return open.map((row) => ({
    ...row,
    content: contents.get(row.content_id),
    tracked: tracked.get(row.content_id),
    problem: problems.get(row.content_id),
  }));
}

/** Lets the links of emails lead through us; where they lead is committed before the first of them goes out. */
async function track(
  rows: readonly ClaimedRow[],
  contents: ReadonlyMap<string, Content>,
): Promise<{ tracked: Map<string, TrackedHtml>; problems: Map<string, MessageError> }> {
  const tracked = new Map<string, TrackedHtml>();
  const problems = new Map<string, MessageError>();
  const one = async (id: string, row: ClaimedRow) => {
    const content = contents.get(id);
    if (content === undefined || content.html === null) return;
    const own = {
      opens: content.track_opens ?? row.tracks_opens ?? false,
      clicks: content.track_clicks ?? row.tracks_clicks ?? false,
    };
    const from = parseMailbox(content.from);
    const { base, ...switches } = await readTracking(row.project_id, typeof from === 'string' ? '' : from.email, own);
    try {
      tracked.set(id, trackHtml(literal('html', content.html), switches, base));
    } catch (error) {
      problems.set(id, compositionError(error) as MessageError);
    }
  };
  const byContent = new Map(rows.map((row) => [row.content_id, row]));
  await Promise.all([...byContent].map(([id, row]) => one(id, row)));
  await storeLinks([...tracked].map(([id, { links }]) => ({ id, links })));
  return { tracked, problems };
}

const suppressedAs = (id: string, reasons: ReadonlyMap<string, string>): Settlement => ({
  id,
  state: 'suppressed',
  answer: suppressedAnswer(reasons.get(id) ?? ''),
});

/** Mail with attachments that is in memory at once: in all, and of a project, whose mail server may take minutes for it. */
const attached = new FairSemaphore({ total: 4, perKey: 2 });

async function send(row: ReadyMessage): Promise<SendResult> {
  const { content, problem } = row;
  if (problem !== undefined) throw problem;
  if (content === undefined) throw new MessageError('content', 'Its content is gone.');
  const sendComposed = async (attachments: Part[]) => {
    const message = await compose(row, content, attachments).catch((error: unknown) => {
      throw compositionError(error);
    });
    const route = await routeFor({
      projectId: row.project_id,
      fromEmail: message.signAs,
      traffic: 'transactional',
      byMailbox: row.mailbox_id !== null,
    });
    return { outcome: await route.send({ ...message, projectId: row.project_id }) };
  };
  if (!content.attached) return sendComposed([]);
  return attached.run(row.project_id, async () => sendComposed(await readAttachments(row.content_id)));
}

async function suppressions(rows: readonly ClaimedRow[]): Promise<Map<string, string>> {
  const reasons = new Map<string, string>();
  for (const [projectId, some] of Map.groupBy(rows, ({ project_id }) => project_id)) {
    const byKey = await suppressedAddresses(
      projectId,
      some.map(({ email }) => email),
    );
    for (const { id, email } of some) {
      const reason = byKey.get(emailKey(email));
      if (reason !== undefined) reasons.set(id, reason);
    }
  }
  return reasons;
}

async function readContents(ids: readonly string[]): Promise<Map<string, Content>> {
  const { rows } = await ledgerPool.query<Content>({
    name: 'emails-contents',
    text: `SELECT message_id, "from", "to", cc, reply_to, html, text, html_text, headers, track_opens, track_clicks,
             EXISTS (SELECT FROM message_attachments a WHERE a.message_id = c.message_id) AS attached
           FROM message_contents c WHERE message_id = ANY ($1)`,
    values: [ids],
  });
  return new Map(rows.map((content) => [content.message_id, content]));
}

/** Files, and other forms of the body. */
type Part = Attachment & { alternative: boolean };

async function readAttachments(messageId: string): Promise<Part[]> {
  const { rows } = await ledgerPool.query<{
    filename: string;
    content: Buffer;
    content_type: string | null;
    content_id: string | null;
    alternative: boolean;
  }>({
    name: 'emails-attachments',
    text: `SELECT filename, content, content_type, content_id, alternative FROM message_attachments
           WHERE message_id = $1 ORDER BY position`,
    values: [messageId],
  });
  return rows.map(({ filename, content, content_type, content_id, alternative }) => ({
    filename,
    alternative,
    content,
    contentType: content_type ?? undefined,
    contentId: content_id ?? undefined,
  }));
}

type Composed = OutgoingMessage & { signAs: string };

/** The bytes of an email. All who get it get the same but for their links, under the Message-ID of the first. */
async function compose(row: ReadyMessage, content: Content, parts: Part[]): Promise<Composed> {
  const from = mailbox(content.from);
  const to = content.to.map(mailbox);
  const cc = content.cc.map(mailbox);
  const replyTo = content.reply_to.map(mailbox);
  const messageId = messageIdOf(row.content_id, from.email);
  const envelope = { id: row.id, signAs: from.email, from: from.email, to: row.email };
  const [onlyTo, ...others] = to;
  const isPlain = onlyTo !== undefined && others.length + cc.length + parts.length === 0 && replyTo.length <= 1;
  const { tracked } = row;
  const own = tracked?.valuesFor(row.id, {}) ?? {};
  if (isPlain && content.html !== null && tracked !== undefined) {
    const { headers } = content;
    const frame = compileMessage({
      from,
      replyTo: replyTo[0],
      subject: literal('subject', row.subject),
      html: tracked.html,
      text: literal('text', await textOf(row.project_id, content)),
      headers,
    });
    return { ...envelope, data: frame.render({ to: onlyTo, messageId, date: new Date(), values: own }), stuffed: true };
  }
  const { headers } = content;
  const data = await buildMessage({
    messageId,
    date: new Date(),
    from,
    to,
    cc,
    replyTo,
    subject: row.subject,
    html: tracked === undefined ? undefined : renderTemplate(tracked.html, own),
    text: await textOf(row.project_id, content),
    headers,
    attachments: parts.filter(({ alternative }) => !alternative),
    alternatives: parts
      .filter(({ alternative }) => alternative)
      .map(({ contentType = 'text/plain', content: bytes }) => ({ contentType, content: bytes })),
  });
  return { ...envelope, data };
}

/** Its text. One that was accepted before texts were made then gets it now. */
async function textOf(projectId: string, { text, html, html_text: htmlText }: Content): Promise<string> {
  const known = text ?? htmlText;
  if (known !== null) return known;
  if (html === null) throw new MessageError('html', 'A message needs HTML or text.');
  return (await textTemplateOf(projectId, literal('html', html))).source;
}

/** Derived from the row, so that a message never goes out under two, and reports find their row. */
export function messageIdOf(id: string, fromEmail: string): string {
  const domain = fromEmail.slice(fromEmail.lastIndexOf('@') + 1);
  return `${id}@${normalizeDomain(domain) || domain}`;
}

/** A text that is finished, as a template without placeholders: braces in it are braces. */
function literal(format: TemplateFormat, text: string): Template {
  return { format, source: text, statics: [text], variables: [], problems: [] };
}

function mailbox(text: string): Mailbox {
  const read = parseMailbox(text);
  if (typeof read === 'string') throw new Error(`An address that was accepted ${read}.`);
  return read;
}

async function standing(workflowId: string): Promise<Pick<BatchRun, 'open' | 'waitMs'>> {
  const { rows } = await ledgerPool.query<{ open: number; wait_ms: number | null }>(
    `SELECT count(*)::int AS open, (extract(epoch FROM min(not_before) - now()) * 1000)::float AS wait_ms
     FROM messages WHERE workflow_id = $1 AND state IN ('planned', 'claimed')`,
    [workflowId],
  );
  const { open = 0, wait_ms: waitMs = null } = rows[0] ?? {};
  return { open, waitMs: Math.max(0, Math.ceil(waitMs ?? 0)) };
}
