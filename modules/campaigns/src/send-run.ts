import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Backoff,
  campaignNotice,
  CampaignReservations,
  checkNotHeld,
  inLedgerTransaction,
  ledgerPool,
  MAIL_POLICY,
  openInFlightJournal,
  settleStaleClaims,
  releaseClaims,
  type Reserved,
  runSendPipeline,
  settle,
  type Settlement,
  UnrecordedError,
  withRetries,
} from '@postroom/ledger';
import { closeUnsent } from '@postroom/ledger/sql';
import { MessageError } from '@postroom/mime';
import { routeFor } from '@postroom/transports';
import { readTracking, storeLinks } from '@postroom/tracking';
import { type DayVolume, dayVolume, nextDay } from '@postroom/domains';
import { BulkPacer, drainSignal, isDraining, logger, pool, record } from '@postroom/platform';
import { acquireFence, type Capped, claimPage, type ClaimedPage, type ClaimedRecipient } from './claim.ts';
import { type CampaignFrame, compileCampaign, contentOf } from './content.ts';
import { campaignCompleted } from './events.ts';
import { endSnapshot, snapshotRecipients } from './snapshot-recipients.ts';
import { SendTrace } from './send-trace.ts';
import { type CampaignRow, type Counts, countsOf, readCampaignRow } from './progress-row.ts';
import { frequencyCapOf, getPolicy } from './policy.ts';
import { autoPause, pauseOverThreshold, SendMonitor } from './send-monitor.ts';

/** The result of one send run. Field names are part of the workflow history. */
export interface SendRun {
  status: CampaignRow['status'] | 'deleted' | 'superseded';
  counts: Counts;
  /** Milliseconds until the next message is due: 0 if one is due now, null if none is planned. */
  waitMs: number | null;
  /** Why the mail server is refusing mail, and the backoff in milliseconds if the server gave one. */
  hold: { answer: string; waitMs: number | null } | null;
  /** Set when the campaign waits for the next day of a domain warm-up. */
  waiting?: string;
  /** Set while the snapshot of its recipients is not complete. */
  isCounting?: true;
}

/** Messages settled so far in this run, by state. */
export type Tally = Partial<Record<Settlement['state'], number>>;

/** A campaign and the number of the run that is sending it. */
export interface CampaignOfRun {
  id: string;
  run: number;
}

/**
 * Sends a campaign's messages until the run's time is up. Each page is claimed before its first byte is sent, and outcomes are
 * recorded as they arrive. Claims left by an earlier attempt are settled first.
 */
export async function sendUntilDeadline(
  { id: campaignId, run }: CampaignOfRun,
  claim: string,
  signal: AbortSignal,
  tally: Tally = {},
): Promise<SendRun> {
  const { epoch } = await checkNotHeld();
  const campaign = await acquireFence(campaignId, run, claim);
  if (campaign === undefined) return idleRun({ id: campaignId, run }, claim);
  if (campaign.claimed_count > 0) await settleStaleClaims({ campaignId }, claim);
  // The workflow takes the first range before; it is missing only if that step failed repeatedly and the campaign was paused.
  if (campaign.frozen_at === null && campaign.recipient_count === 0)
    await snapshotRecipients(campaignId, { isFirst: true });
  const frame = await compileOrPause(campaign);
  if (frame === undefined) return sendRunOf(campaign, undefined);
  await pauseOverThreshold(campaignId); // apply reports received since the last run before claiming anything
  const policy = await getPolicy(campaign.project_id);
  const frequencyCap = frequencyCapOf(policy);
  const cap = frequencyCap && { ...frequencyCap, projectId: campaign.project_id };
  const monitor = new SendMonitor(campaignId, campaign.refusals_in_row, policy.refusalsInRow);
  const volume = await dayVolume(campaign.project_id, frame.from);
  const backoff = await sendPages(campaign, { claim, epoch, frame, signal, tally, monitor, volume, cap });
  await monitor.close();
  if (backoff?.cause === 'configuration') {
    await autoPause(campaignId, `The mail server rejects our credentials or settings: ${backoff.answer}`);
  }
  const result = await sendRunOf(campaign, backoff);
  const isUsedUp = volume !== undefined && result.waitMs === 0 && backoff === undefined && (await volume.left()) === 0;
  return isUsedUp ? waitForNextDay(campaignId, result, volume) : result;
}

/** The result when there is nothing to send. Stale claims of a paused campaign are settled so that they show at once. */
async function idleRun(of: CampaignOfRun, claim: string): Promise<SendRun> {
  const result = await sendRunOf(of, undefined);
  if (result.status !== 'paused' || result.counts.claimed === 0) return result;
  await settleStaleClaims({ campaignId: of.id }, claim);
  return sendRunOf(of, undefined);
}

/** Records, on the campaign and in its workflow, that it waits for the next day of its domain's warm-up. */
async function waitForNextDay(campaignId: string, result: SendRun, { domain, limit }: DayVolume): Promise<SendRun> {
  const until = nextDay();
  const waiting = `${domain} has reached its warm-up limit of ${limit} messages for today.`;
  await pool.query(
    `WITH waits AS (
       UPDATE campaigns SET waiting_until = $2, waiting_reason = $3 WHERE id = $1 AND status = 'sending'
     ) SELECT pg_notify('postroom', $4)`,
    [campaignId, until, waiting, `campaign ${campaignId}`],
  );
  const waitMs = Math.min(MAIL_POLICY.campaign.warmupRecheckMs, Math.max(1, until.getTime() - Date.now()));
  return { ...result, waitMs, waiting: `${waiting} Sending resumes at ${until.toISOString()}.` };
}

/** Pauses a campaign whose sending or completion keeps failing for a reason specific to it. */
export async function pauseAfterErrors(of: CampaignOfRun, reason: string): Promise<SendRun> {
  await autoPause(of.id, `Sending failed repeatedly: ${reason}`);
  return sendRunOf(of, undefined);
}

async function compileOrPause(row: CampaignRow): Promise<CampaignFrame | undefined> {
  try {
    const { subject, html, text } = row;
    const switches = { opens: row.track_opens, clicks: row.track_clicks };
    const frame = await compileCampaign(
      await contentOf({
        projectId: row.project_id,
        subject,
        html,
        text,
        fromName: row.from_name,
        fromEmail: row.from_email,
        replyTo: row.reply_to,
        previewText: row.preview_text,
        utmSource: row.utm_source,
        utmMedium: row.utm_medium,
        utmCampaign: row.utm_campaign,
        utmTerm: row.utm_term,
        utmContent: row.utm_content,
      }),
      await readTracking(row.project_id, row.from_email ?? '', switches),
    );
    await storeLinks([{ id: row.id, links: frame.links }]);
    return frame;
  } catch (error) {
    if (!(error instanceof MessageError)) throw error;
    await autoPause(row.id, `The message could not be composed (${error.field}): ${error.message}`);
    return undefined;
  }
}

interface Sending {
  claim: string;
  /** The installation's epoch. */
  epoch: number;
  frame: CampaignFrame;
  signal: AbortSignal;
  tally: Tally;
  monitor: SendMonitor;
  /** The domain's daily quota; undefined unless it is warming up. */
  volume: DayVolume | undefined;
  /** The project's frequency cap; undefined if it has none. */
  cap: Capped | undefined;
}

async function sendPages(
  { id: campaignId, project_id: projectId }: CampaignRow,
  { claim, epoch, frame, signal, tally, monitor, volume, cap }: Sending,
): Promise<Backoff | undefined> {
  const byMailbox = await usesMailbox(campaignId);
  const route = await routeFor({ projectId, fromEmail: frame.from, traffic: 'campaigns', byMailbox });
  const lastClaimAt = Date.now() + MAIL_POLICY.campaign.runMs;
  const pacer = new BulkPacer();
  const reservations = new CampaignReservations(campaignId);
  const snapshot = new SnapshotEnd(campaignId, AbortSignal.any([signal, drainSignal]), lastClaimAt);
  const trace = new SendTrace(campaignId);
  const journal = openInFlightJournal({ claim, scope: { campaignId }, epoch });
  let isRecorded = false;
  const send = async (row: ClaimedRecipient) => {
    const { data, subject } = frame.render(row, new Date());
    const message = { id: row.id, from: frame.from, to: row.email, data, stuffed: true, projectId, journal };
    return { outcome: await trace.send(row.id, () => route.send(message)), subject };
  };
  try {
    const { hold } = await runSendPipeline<ClaimedRecipient>({
      claim: async (limit) => {
        // A draining worker ends its run, so that another one continues at once.
        if (Date.now() >= lastClaimAt || isDraining()) return NO_PAGE;
        await pacer.pause(AbortSignal.any([signal, drainSignal]));
        const granted = volume === undefined ? limit : await volume.take(limit);
        if (granted === 0) return NO_PAGE;
        const page = await trace.claim(() =>
          claimReserved(reservations, snapshot, (reserved) =>
            pacer.measure(() => claimPage(campaignId, claim, granted, frame.needsCustomFields, reserved, cap)),
          ),
        );
        await volume?.release(granted - page.rows.length);
        return page;
      },
      send,
      journal,
      settle: async (settlements) => {
        await trace.settle(settlements, () =>
          pacer.measure(() => withRetries(() => settle(claim, settlements, campaignNotice(campaignId)), signal)),
        );
        for (const { state } of settlements) tally[state] = (tally[state] ?? 0) + 1;
        // The outcomes are recorded. A failure to update limits below must not make them look unrecorded.
        const returned = settlements.filter(({ state }) => state === 'planned').length;
        await withRetries(async () => volume?.release(returned), signal).catch(warn);
        await monitor.note(settlements).catch(warn);
      },
      signal,
      width: () => route.width,
    });
    isRecorded = true;
    return hold;
  } catch (error) {
    if (!(error instanceof UnrecordedError)) {
      await withRetries(() => releaseClaims({ campaignId }, claim), signal);
      isRecorded = true;
    }
    throw error;
  } finally {
    journal.close({ isRecorded });
  }
}

/** Whether ranges of the recipient snapshot may follow what is in the ledger. */
class SnapshotEnd {
  readonly #campaignId: string;
  readonly #signal: AbortSignal;
  readonly #deadline: number;
  #isReached = false;

  constructor(campaignId: string, signal: AbortSignal, deadline: number) {
    this.#campaignId = campaignId;
    this.#signal = signal;
    this.#deadline = deadline;
  }

  /**
   * Call it when all messages are claimed. Waits a moment if ranges may follow.
   * @returns whether there is something to look for, which is also the case once after the last range.
   */
  async mayFollow(): Promise<boolean> {
    if (this.#isReached || this.#signal.aborted || Date.now() >= this.#deadline) return false;
    const campaign = await readCampaignRow(this.#campaignId);
    this.#isReached = campaign?.frozen_at !== null;
    if (!this.#isReached) await sleep(RANGE_POLL_MS, undefined, { signal: this.#signal }).catch(() => {});
    return true;
  }
}

/** A range is usually written long before its first message can be sent. */
const RANGE_POLL_MS = 100;

/** Claims a page of what is reserved, and reserves more when that is used up. */
async function claimReserved(
  reservations: CampaignReservations,
  snapshot: SnapshotEnd,
  claim: (reserved: Reserved) => Promise<ClaimedPage>,
): Promise<ClaimedPage> {
  for (;;) {
    const reserved = await reservations.current();
    const page = await claim(reserved);
    reservations.claimed(page.rows.length);
    if (page.rows.length > 0 || page.isFencedOff) return page;
    if (reserved.isAll && !(await snapshot.mayFollow())) return page;
    await reservations.extend();
  }
}

const warn = (error: unknown) => logger.warn({ err: error }, 'campaign limits not updated');

/** Whether the campaign is sent from a mailbox account. The snapshot fixes this, because mailbox mail emits different events. */
async function usesMailbox(campaignId: string): Promise<boolean> {
  const { rows } = await ledgerPool.query<{ mailbox_id: string | null }>(
    'SELECT mailbox_id FROM messages WHERE campaign_id = $1 ORDER BY id LIMIT 1',
    [campaignId],
  );
  return rows[0]?.mailbox_id != null;
}

const NO_PAGE = { rows: [], ratePerSecond: null };

async function sendRunOf({ id, run }: CampaignOfRun, backoff: Backoff | undefined): Promise<SendRun> {
  const campaign = await readCampaignRow(id);
  if (campaign === undefined) return { status: 'deleted', counts: NO_RECIPIENTS, waitMs: null, hold: null };
  return {
    status: campaign.run === run ? campaign.status : 'superseded',
    counts: countsOf(campaign),
    waitMs: await msUntilNextDue(id),
    hold: backoff?.cause === 'host' ? { answer: backoff.answer, waitMs: backoff.waitMs ?? null } : null,
    ...(campaign.frozen_at === null && { isCounting: true }),
  };
}

const NO_RECIPIENTS: Counts = {
  recipients: 0,
  planned: 0,
  claimed: 0,
  accepted: 0,
  failed: 0,
  suppressed: 0,
  unknown: 0,
  canceled: 0,
};

async function msUntilNextDue(campaignId: string): Promise<number | null> {
  const { rows } = await ledgerPool.query<{ wait_ms: number | null }>(
    `SELECT CASE WHEN EXISTS (SELECT FROM messages m WHERE m.campaign_id = c.id AND m.id > c.cursor AND m.state = 'planned' AND m.not_before IS NULL) THEN 0
       ELSE (SELECT ceil(extract(epoch FROM min(m.not_before) - now()) * 1000)::float FROM messages m
         WHERE m.campaign_id = c.id AND m.not_before IS NOT NULL) END AS wait_ms
     FROM campaigns c WHERE c.id = $1`,
    [campaignId],
  );
  const waitMs = rows[0]?.wait_ms ?? null;
  return waitMs === null ? null : Math.max(0, waitMs);
}

/** Cancels the planned messages of one page and updates the campaign's counter in the same statement. */
const CANCEL_PAGE = `
  WITH page AS (
    SELECT id, state FROM messages WHERE campaign_id = $1 AND id > $2 ORDER BY id LIMIT 10000
  ), canceled AS (
    ${closeUnsent('canceled', "'The campaign was canceled.'")}
    FROM page WHERE m.id = page.id AND page.state = 'planned' AND m.state = 'planned' RETURNING m.id
  ), counters AS (
    UPDATE campaigns SET canceled_count = canceled_count + (SELECT count(*) FROM canceled) WHERE id = $1
  ) SELECT max(id) AS last FROM page`;

/** Cancels the unsent messages of a canceled campaign. Claims left by a dead attempt are settled. */
export async function cancelRemaining(campaignId: string, claim: string, onPage: () => void): Promise<Counts> {
  await pool.query('UPDATE campaigns SET fencing_token = $2 WHERE id = $1', [campaignId, claim]);
  await endSnapshot(campaignId);
  await settleStaleClaims({ campaignId }, claim);
  for (let after: string | null = ''; after !== null; onPage()) {
    const { rows }: { rows: { last: string | null }[] } = await ledgerPool.query(CANCEL_PAGE, [campaignId, after]);
    after = rows[0]?.last ?? null;
  }
  const campaign = await readCampaignRow(campaignId);
  return campaign === undefined ? NO_RECIPIENTS : countsOf(campaign);
}

/**
 * Completes a campaign that has no open messages. `campaign.completed` is recorded only the first time, not when a retry
 * completes the campaign again.
 * @returns whether the calling run has nothing left to do.
 */
export async function complete({ id, run }: CampaignOfRun): Promise<boolean> {
  await inLedgerTransaction(async (client) => {
    // Lock the campaign before checking its messages, so that a concurrent retry runs entirely before or after this.
    const before = await client.query<{ first_completed_at: Date | null }>(
      'SELECT first_completed_at FROM campaigns WHERE id = $1 FOR NO KEY UPDATE',
      [id],
    );
    const { rows } = await client.query<CampaignRow & { delivered_count: number }>(
      `UPDATE campaigns c SET status = 'completed', completed_at = now(), first_completed_at = coalesce(first_completed_at, now())
       WHERE id = $1 AND run = $2 AND status = 'sending' AND frozen_at IS NOT NULL
         AND NOT EXISTS (SELECT FROM messages m WHERE m.campaign_id = c.id AND m.state IN ('planned', 'claimed'))
       RETURNING *`,
      [id, run],
    );
    const [campaign] = rows;
    if (campaign === undefined) return;
    if (before.rows[0]?.first_completed_at === null) {
      const { accepted_count: sent, delivered_count: delivered, failed_count: failed } = campaign;
      await record(client, campaign.project_id, [campaignCompleted(campaign, { sent, delivered, failed })]);
    }
    await client.query(`SELECT pg_notify('postroom', $1)`, [`campaign ${id}`]);
  });
  const campaign = await readCampaignRow(id);
  return campaign === undefined || campaign.run !== run || campaign.status === 'completed';
}
