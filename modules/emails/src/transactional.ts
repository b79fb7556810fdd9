import { emailDomain, emailKey, FairSemaphore, inSpan, isOutage, NOW } from '@postroom/platform';
import { compose, type Content, type Part, readAttachments, readContents } from './compose-email.ts';
import { suppressedAddresses, suppressedAnswer } from './emails.ts';
import {
  type Backoff,
  checkNotHeld,
  type InFlightJournal,
  type ClaimKey,
  ledgerPool,
  MAIL_POLICY,
  openInFlightJournal,
  settleStaleClaims,
  releaseClaims,
  reserveQueue,
  reserveRetries,
  type Reserved,
  SendPipeline,
  type SendResult,
  settle,
  type Settlement,
  settlementOfError,
  UnrecordedError,
  whileReserved,
  withRetries,
} from '@postroom/ledger';
import { claimDue, mayClaim } from '@postroom/ledger/sql';
import { assertHere } from '@postroom/projects';
import { isHere } from '@postroom/projects/sql';
import { parseMailbox } from './mailbox.ts';
import { compositionError, MessageError } from '@postroom/mime';
import { literalTemplate } from '@postroom/templating';
import { routeFor, sendingProblem } from '@postroom/transports';
import { smtpPoolWidth } from '@postroom/transports';
import type { SendOutcome } from '@postroom/smtp';
import { trackingOfEmail } from './web-version.ts';
import { storeLinks, trackHtml, type TrackedHtml } from '@postroom/tracking';

/** A claimed row, as returned by the claim statements. */
export interface ClaimedRow {
  id: string;
  project_id: string;
  mailbox_id: string | null;
  needs_consent: boolean;
  content_id: string;
  email: string;
  subject: string;
  traceparent: string | null;
  deferrals: number;
  deferredAt: Date | null;
  /** The project's settings; null if it has been deleted. */
  tracks_opens: boolean | null;
  tracks_clicks: boolean | null;
}

/** A claimed row with its content. */
export interface ReadyMessage extends ClaimedRow {
  content: Content | undefined;
  /** The HTML with tracked links; undefined if there is no HTML. */
  tracked: TrackedHtml | undefined;
  /** Why it can't be sent. */
  problem: MessageError | undefined;
}

/** The result of one run: how many of the workflow's messages are left, and the outcomes of the others. */
export interface BatchRun {
  /** Messages still to be sent. */
  open: number;
  /** Milliseconds until the next attempt; 0 if none is left. */
  waitMs: number;
  /** The mail server's answer if it accepts no mail at the moment, else null. */
  held: string | null;
  /** Recorded outcomes of this run, counted by state. */
  counts: Partial<Record<Settlement['state'], number>>;
  /** The ids of those messages, for operators who look one up in the history. Missing in results from before they were recorded. */
  outcomes?: Outcomes;
}

/** Message ids by recorded outcome. */
export type Outcomes = Partial<Record<Settlement['state'], string[]>>;

/** Ids in the result of a queue drain, per outcome: a run of 20 seconds may send more than a history should hold. */
const MAX_NAMED = 500;

/** The columns of the row `m` that make a `ClaimedRow`. */
export const CLAIMED_COLUMNS = `m.id, m.traceparent, m.project_id, m.mailbox_id, m.needs_consent, coalesce(m.copy_of, m.id) AS content_id, m.email, m.subject,
    m.deferrals, m.deferred_at AS "deferredAt", (SELECT track_opens FROM projects p WHERE p.id = m.project_id) AS tracks_opens,
    (SELECT track_clicks FROM projects p WHERE p.id = m.project_id) AS tracks_clicks`;

/**
 * Claims due rows of a workflow. Each activity attempt claims a row at most once, so that an outcome delivered twice by the
 * network cannot be mistaken for that of another send. Mail of a mailbox account is rate-limited, so it is claimed one row
 * at a time.
 */
const CLAIM = `
  WITH due AS (
    SELECT id FROM messages WHERE workflow_id = $1 AND state = 'planned' AND not_before <= ${NOW} AND claim IS DISTINCT FROM $2
      AND not_before <= CASE WHEN deferred_at IS NULL AND mailbox_id IS NULL THEN $4::timestamptz ELSE $5::timestamptz END
      AND ${mayClaim({ epoch: '$6', number: '$7', until: '$8' })} AND ${isHere('messages.project_id')}
    ORDER BY id LIMIT CASE WHEN EXISTS (SELECT FROM messages WHERE workflow_id = $1 AND mailbox_id IS NOT NULL) THEN 1 ELSE $3 END
    FOR NO KEY UPDATE SKIP LOCKED
  )
  ${claimDue('$2')} WHERE m.id = ANY (ARRAY(SELECT id FROM due))
  RETURNING ${CLAIMED_COLUMNS}`;

/** Sends the due messages of a workflow, once each, and records their outcomes. */
export async function sendBatchUntilDeadline(
  workflowId: string,
  claim: string,
  signal: AbortSignal,
): Promise<BatchRun> {
  const { epoch } = await checkNotHeld();
  await settleStaleClaims({ workflowId }, claim);
  await assertProjectIsHere(workflowId);
  const { backoff, counts, outcomes } = await sendClaimed({ claim, scope: { workflowId }, epoch }, signal, {
    claim: (limit) => claimReady(workflowId, claim, limit),
    notice: 'emails',
    namesAccepted: true,
  });
  const rest = await remaining(workflowId);
  return {
    ...rest,
    waitMs: Math.max(rest.waitMs, backoff?.waitMs ?? 0),
    held: backoff?.answer ?? null,
    counts,
    outcomes,
  };
}

/** Checks that the project of a workflow is not being moved to another cell. @throws an outage while it is. */
async function assertProjectIsHere(workflowId: string): Promise<void> {
  const { rows } = await ledgerPool.query<{ id: string }>(
    'SELECT project_id AS id FROM messages WHERE workflow_id = $1 LIMIT 1',
    [workflowId],
  );
  if (rows[0] !== undefined) await assertHere(rows[0].id);
}

/** Fails the queued messages of a workflow that keeps failing. `reason` is shown to users. */
export async function failBatch(workflowId: string, claim: string, reason: string): Promise<BatchRun> {
  await settleStaleClaims({ workflowId }, claim);
  const { rows } = await ledgerPool.query<{ id: string }>(
    `${claimDue('$2')} WHERE workflow_id = $1 AND state = 'planned' RETURNING id`,
    [workflowId, claim],
  );
  const answer = `Could not be sent: ${reason}`.slice(0, 500);
  if (rows.length > 0)
    await settle(
      claim,
      rows.map(({ id }) => ({ id, state: 'failed' as const, answer })),
      'emails',
    );
  const failed = rows.map(({ id }) => id);
  return { open: 0, waitMs: 0, held: null, counts: { failed: failed.length }, outcomes: { failed } };
}

/** Supplies the messages of a workflow. */
export interface Source {
  /** Claims up to `limit` messages; returns none once the run is over. */
  claim: (limit: number) => Promise<ReadyMessage[]>;
  /** Continues after its end, while the server does not reply to a message. @returns false if it must not. */
  extend?: () => boolean;
  /** Called after outcomes are recorded; retried if it fails. */
  settled?: (settlements: readonly Settlement[]) => Promise<void>;
  /** The notification to send when outcomes are recorded. */
  notice?: string;
  /** Whether the result names accepted messages too. */
  namesAccepted?: boolean;
}

/** Claims and sends messages of a workflow and records their outcomes, until none is due or the transport accepts no more. */
export async function sendClaimed(
  key: ClaimKey,
  signal: AbortSignal,
  source: Source,
): Promise<{ backoff: Backoff | undefined; counts: BatchRun['counts']; outcomes: Outcomes }> {
  const { claim } = key;
  const journal = openInFlightJournal(key);
  let isRecorded = false;
  const counts: BatchRun['counts'] = {};
  const outcomes: Outcomes = {};
  const tally = ({ id, state }: Settlement) => {
    counts[state] = (counts[state] ?? 0) + 1;
    if (state === 'accepted' && source.namesAccepted !== true) return;
    const ids = (outcomes[state] ??= []);
    if (ids.length < MAX_NAMED) ids.push(id);
  };
  const record = async (settlements: readonly Settlement[]) => {
    await settle(claim, settlements, source.notice);
    await source.settled?.(settlements);
  };
  const senders = new Set<string>();
  const pipeline = new SendPipeline<ReadyMessage>({
    width: smtpPoolWidth,
    claim: async (limit) => {
      const rows = await source.claim(limit);
      for (const { content } of rows)
        if (content !== undefined) senders.add(emailDomain(content.from.replace(/>$/, '')));
      return { rows, ratePerSecond: null };
    },
    send: async (row) => {
      const sent = await send(row, journal);
      return senders.size > 1 ? { ...sent, outcome: limitToSender(sent.outcome) } : sent;
    },
    journal,
    settle: async (settlements) => {
      await withRetries(() => record(settlements), signal);
      settlements.forEach(tally);
    },
    extend: () => Promise.resolve(source.extend?.() ?? false),
    signal,
  });
  try {
    const backoff = await pipeline.run();
    isRecorded = true;
    return { backoff, counts, outcomes };
  } catch (error) {
    if (!(error instanceof UnrecordedError)) {
      await withRetries(async () => {
        // A claimed message may have caused an unexpected error, so each counts the attempt and fails after a few.
        if (isOutage(error)) await releaseClaims(key);
        else await releaseClaims(key, (row) => settlementOfError(row, error));
        await source.settled?.([]);
      }, signal);
      isRecorded = true;
    }
    throw error;
  } finally {
    journal.close({ isRecorded });
  }
}

/** Among several senders, a transport failure of one defers its own messages only, since each may have its own transport. */
function limitToSender(outcome: SendOutcome): SendOutcome {
  const stopsPipeline =
    outcome.kind === 'deferred'
      ? outcome.scope === 'host'
      : outcome.kind === 'refused' && outcome.verdict === 'configuration';
  if (!stopsPipeline) return outcome;
  const waitMs = outcome.kind === 'deferred' ? outcome.waitMs : undefined;
  return {
    kind: 'deferred',
    answer: outcome.answer,
    scope: 'message',
    waitMs: waitMs ?? MAIL_POLICY.deferral.transportMs,
  };
}

/** Claims rows and prepares them, until some are left to send. */
async function claimReady(workflowId: string, claim: string, limit: number): Promise<ReadyMessage[]> {
  for (;;) {
    const reserved = await reserveFor(workflowId);
    if (reserved === undefined) return [];
    const { first, later, epoch, number, until } = reserved;
    const { rows } = await whileReserved(reserved, () =>
      ledgerPool.query<ClaimedRow>({
        name: 'emails-claim',
        text: CLAIM,
        values: [workflowId, claim, Math.min(limit, 100), first, later, epoch, number, until],
      }),
    );
    if (rows.length === 0) return [];
    const ready = await prepare(rows, claim);
    if (ready.length > 0) return ready;
  }
}

/** How far the messages of a workflow may be claimed: on their first attempt, and later ones. */
interface ReservedFor extends Pick<Reserved, 'epoch' | 'number' | 'until' | 'expiresAt'> {
  first: string | null;
  later: string | null;
}

/** Reserves the due messages of a workflow; undefined if there is none. */
async function reserveFor(workflowId: string): Promise<ReservedFor | undefined> {
  const { rows } = await ledgerPool.query<{ project_id: string; is_later: boolean }>({
    name: 'emails-to-reserve',
    text: `SELECT DISTINCT project_id, deferred_at IS NOT NULL OR mailbox_id IS NOT NULL AS is_later FROM messages
      WHERE workflow_id = $1 AND state = 'planned' AND not_before <= ${NOW}`,
    values: [workflowId],
  });
  if (rows.length === 0) return undefined;
  const reserve = async (isLater: boolean) => {
    const due = rows.find((row) => row.is_later === isLater);
    if (due === undefined) return undefined;
    return isLater ? reserveRetries(due.project_id) : reserveQueue(due.project_id, workflowId);
  };
  const [first, later] = await Promise.all([reserve(false), reserve(true)]);
  // A claim must not outlast either of them.
  const [soonest] = [first, later]
    .filter((reserved) => reserved !== undefined)
    .toSorted((a, b) => a.expiresAt - b.expiresAt);
  if (soonest === undefined) return undefined;
  return {
    ...soonest,
    first: first?.position ?? null,
    later: later?.position ?? null,
    number: Math.max(first?.number ?? 0, later?.number ?? 0),
  };
}

/** Loads the content of claimed rows. Those whose address has been suppressed meanwhile are recorded as such and left out. */
export async function prepare(rows: readonly ClaimedRow[], claim: string): Promise<ReadyMessage[]> {
  const [contents, reasons] = await Promise.all([
    readContents(rows.map(({ content_id }) => content_id)),
    suppressionReasons(rows),
  ]);
  const suppressed = rows.filter(({ id }) => reasons.has(id));
  if (suppressed.length > 0)
    await settle(
      claim,
      suppressed.map(({ id }) => suppressedAs(id, reasons)),
      'emails',
    );
  const open = rows.filter(({ id }) => !reasons.has(id));
  const [{ tracked, problems }, senders] = await Promise.all([track(open, contents), senderProblems(open, contents)]);
  return open.map((row) => ({
    ...row,
    content: contents.get(row.content_id),
    tracked: tracked.get(row.content_id),
    problem: senders.get(row.content_id) ?? problems.get(row.content_id),
  }));
}

/**
 * Why emails may no longer be sent: an email can wait for a year, and meanwhile its domain may have been removed or blocked,
 * or have lost its records. A mailbox account keeps its emails until it can sign in again.
 */
async function senderProblems(
  rows: readonly ClaimedRow[],
  contents: ReadonlyMap<string, Content>,
): Promise<Map<string, MessageError>> {
  const problems = new Map<string, MessageError>();
  const check = async ({ project_id: projectId, content_id: id }: ClaimedRow) => {
    const from = parseMailbox(contents.get(id)?.from ?? '');
    if (typeof from === 'string') return;
    const problem = await sendingProblem(projectId, from.email);
    if (problem !== undefined) problems.set(id, new MessageError('from', problem));
  };
  const byContent = new Map(rows.filter((row) => row.mailbox_id === null).map((row) => [row.content_id, row]));
  await Promise.all([...byContent.values()].map(check));
  return problems;
}

/** Adds tracked links to the HTML of emails. The targets are committed before any of them is sent. */
async function track(
  rows: readonly ClaimedRow[],
  contents: ReadonlyMap<string, Content>,
): Promise<{ tracked: Map<string, TrackedHtml>; problems: Map<string, MessageError> }> {
  const tracked = new Map<string, TrackedHtml>();
  const problems = new Map<string, MessageError>();
  const trackOne = async (id: string, row: ClaimedRow) => {
    const content = contents.get(id);
    if (content === undefined || content.html === null) return;
    const own = {
      opens: content.track_opens ?? row.tracks_opens ?? false,
      clicks: content.track_clicks ?? row.tracks_clicks ?? false,
    };
    const tracking = await trackingOfEmail(row.project_id, content.from, own);
    try {
      tracked.set(id, trackHtml(literalTemplate('html', content.html), tracking, tracking.base));
    } catch (error) {
      problems.set(id, compositionError(error) as MessageError);
    }
  };
  const byContent = new Map(rows.map((row) => [row.content_id, row]));
  await Promise.all([...byContent].map(([id, row]) => trackOne(id, row)));
  await storeLinks([...tracked].map(([id, { links }]) => ({ id, links })));
  return { tracked, problems };
}

const suppressedAs = (id: string, reasons: ReadonlyMap<string, string>): Settlement => ({
  id,
  state: 'suppressed',
  answer: suppressedAnswer(reasons.get(id) ?? ''),
});

/** Limits mail with attachments in memory, in total and per project, since a slow mail server may take minutes for each. */
const attachmentSlots = new FairSemaphore({ total: 4, perKey: 2 });

async function send(row: ReadyMessage, journal: InFlightJournal): Promise<SendResult> {
  const { content, problem } = row;
  if (problem !== undefined) throw problem;
  if (content === undefined) throw new MessageError('content', 'Its content has been deleted.');
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
    const span = { kind: 'client', parent: row.traceparent, attributes: { 'postroom.message.id': row.id } } as const;
    const outcome = await inSpan('send mail', span, () =>
      route.send({ ...message, projectId: row.project_id, journal }),
    );
    return { outcome };
  };
  if (!content.has_attachments) return sendComposed([]);
  return attachmentSlots.run(row.project_id, async () => sendComposed(await readAttachments(row.content_id)));
}

/** Why rows must not be sent, by their ids. */
async function suppressionReasons(rows: readonly ClaimedRow[]): Promise<Map<string, string>> {
  const reasons = new Map<string, string>();
  for (const some of Map.groupBy(rows, (row) => `${row.project_id} ${row.needs_consent}`).values()) {
    const [{ project_id: projectId, needs_consent: needsConsent }] = some as [ClaimedRow];
    const byKey = await suppressedAddresses(
      projectId,
      some.map(({ email }) => email),
      { needsConsent },
    );
    for (const { id, email } of some) {
      const reason = byKey.get(emailKey(email));
      if (reason !== undefined) reasons.set(id, reason);
    }
  }
  return reasons;
}

async function remaining(workflowId: string): Promise<Pick<BatchRun, 'open' | 'waitMs'>> {
  const { rows } = await ledgerPool.query<{ open: number; wait_ms: number | null }>(
    `SELECT count(*)::int AS open, (extract(epoch FROM min(not_before) - now()) * 1000)::float AS wait_ms
     FROM messages WHERE workflow_id = $1 AND state IN ('planned', 'claimed')`,
    [workflowId],
  );
  const { open = 0, wait_ms: waitMs = null } = rows[0] ?? {};
  return { open, waitMs: Math.max(0, Math.ceil(waitMs ?? 0)) };
}
