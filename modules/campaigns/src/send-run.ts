import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Backoff,
  CampaignReservations,
  cancelCampaignMessages,
  checkNotHeld,
  type ClaimedPage,
  countShards,
  endShards,
  inLedgerTransaction,
  ledgerPool,
  MAIL_POLICY,
  msUntilNextDue,
  NO_PAGE,
  RunTime,
  settleStaleClaims,
  SnapshotEnd,
  takeOverShards,
} from '@postroom/ledger';
import { type DayVolume, nextDay } from '@postroom/domains';
import { assertHere } from '@postroom/projects';
import { countOf, databaseNow, drainSignal, isDraining, pool, record } from '@postroom/platform';
import { campaignCompleted } from './events.ts';
import { awaitingLocalTime } from './local-time.ts';
import { endSnapshot, snapshotRecipients } from './snapshot-recipients.ts';
import { prepare, type Sender, sendPages, type Tally } from './send-pages.ts';
import { isShardHere } from './send-shard.ts';
import {
  acquireFence,
  type CampaignOfRun,
  type CampaignRow,
  type Counts,
  countsOf,
  readCampaignRow,
  setWaiting,
} from './progress-row.ts';
import { autoPause } from './send-monitor.ts';

/** The result of one send run. Field names are part of the workflow history. */
export interface SendRun {
  status: CampaignRow['status'] | 'deleted' | 'superseded';
  counts: Counts;
  /** Milliseconds until the next message is due: 0 if one is due now, null if none is planned. */
  waitMs: number | null;
  /** Why the mail server is refusing mail, and the backoff in milliseconds if the server gave one. */
  hold: { answer: string; waitMs: number | null } | null;
  /** Why the campaign waits for the next day of a domain warm-up, or the local time of recipients. */
  waiting?: string;
  /** Set while the snapshot of its recipients is not complete. */
  isCounting?: true;
  /** How many other workers should help; none if omitted. */
  shards?: number;
}

/**
 * Sends a campaign's messages until the run's time is up. Each page is claimed before its first byte is sent, and outcomes are
 * recorded as they arrive. Claims left by an earlier attempt are settled first.
 * @param backoffMs how long the campaign waits afterwards if its mail server accepts no mail and names no time.
 */
export async function sendUntilDeadline(
  { id: campaignId, run }: CampaignOfRun,
  claim: string,
  signal: AbortSignal,
  tally: Tally = {},
  backoffMs = 0,
): Promise<SendRun> {
  const { epoch } = await checkNotHeld();
  await endShards(campaignId, 'expired'); // which adds their claims to the campaign's
  const campaign = await acquireFence(campaignId, run, claim);
  if (campaign === undefined) return idleRun({ id: campaignId, run }, claim);
  if (campaign.claimed_count > 0) await settleStaleClaims({ campaignId }, claim);
  await assertHere(campaign.project_id);
  // The workflow takes the first range before; it is missing only if that step failed repeatedly and the campaign was paused.
  if (campaign.frozen_at === null && campaign.recipient_count === 0)
    await snapshotRecipients(campaignId, { isFirst: true });
  const prepared = await prepare(campaign);
  if (prepared === undefined) return sendRunOf(campaign, undefined);
  const { monitor, volume } = prepared;
  const reservations = new CampaignReservations(campaignId);
  const stopTakingOver = takeOverShards(campaignId, claim, reservations);
  const time = new RunTime(MAIL_POLICY.campaign);
  const next = nextPages(campaignId, reservations, time, AbortSignal.any([signal, drainSignal]));
  // The quota of a day or of a mailbox is read by each run.
  const extend = () => volume === undefined && !prepared.byMailbox && time.extend();
  const backoff = await sendPages(campaign, prepared, {
    claim,
    by: 'campaign',
    epoch,
    signal,
    tally,
    next,
    extend,
  }).finally(stopTakingOver);
  await monitor.close();
  if (backoff?.cause === 'configuration') {
    await autoPause(campaignId, `The mail server rejects our credentials or settings: ${backoff.answer}`);
  }
  const result = await sendRunOf(campaign, backoff);
  if (result.hold !== null) await recordServerWait(campaignId, result.hold, backoffMs);
  const isUsedUp = volume !== undefined && result.waitMs === 0 && backoff === undefined && (await volume.isUsedUp());
  if (isUsedUp) return waitForNextDay(campaignId, result, volume);
  return campaign.time_zone_field === null ? result : waitForLocalTime(campaignId, result);
}

/** Records on the campaign that its mail server accepts no mail. The next run tries again. */
async function recordServerWait(
  id: string,
  { answer, waitMs }: NonNullable<SendRun['hold']>,
  backoffMs: number,
): Promise<void> {
  const until = new Date(databaseNow() + (waitMs ?? backoffMs));
  await recordWaiting(id, until, `The mail server accepts no mail at the moment: ${answer.replace(/[.\s]*$/, '.')}`);
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
  const reason = `${domain} has reached its warm-up limit of ${countOf(limit, 'message')} for today.`;
  const waitMs = Math.min(MAIL_POLICY.campaign.warmupRecheckMs, Math.max(1, until.getTime() - databaseNow()));
  return { ...result, waitMs, waiting: await recordWaiting(campaignId, until, reason) };
}

/** The same if nothing is due and messages wait for the local time of their recipients. It ends at the first of these, or an earlier retry. */
async function waitForLocalTime(campaignId: string, result: SendRun): Promise<SendRun> {
  const { status, waitMs, hold, isCounting } = result;
  if (status !== 'sending' || hold !== null || isCounting === true || waitMs === null || waitMs === 0) return result;
  const awaiting = await awaitingLocalTime(campaignId);
  if (awaiting === undefined || (await countShards(campaignId)).all > 0) return result;
  const until = new Date(Math.min(awaiting.nextAt.getTime(), databaseNow() + waitMs));
  const reason = 'Messages wait for the local time of their recipients.';
  return { ...result, waiting: await recordWaiting(campaignId, until, reason) };
}

/** @returns what the workflow shows. */
async function recordWaiting(campaignId: string, until: Date, reason: string): Promise<string> {
  await setWaiting(campaignId, until, reason);
  return `${reason} Sending resumes at ${until.toISOString()}.`;
}

/** Pauses a campaign whose sending or completion keeps failing for a reason specific to it. */
export async function pauseAfterErrors(of: CampaignOfRun, reason: string): Promise<SendRun> {
  await autoPause(of.id, `Sending failed repeatedly: ${reason}`);
  return sendRunOf(of, undefined);
}

/** Claims pages of reserved messages, and reserves more when those are used up, until the time of the run is over. */
function nextPages(
  campaignId: string,
  reservations: CampaignReservations,
  time: RunTime,
  signal: AbortSignal,
): Sender['next'] {
  const snapshot = new SnapshotEnd(campaignId, signal, time);
  return async (claimReserved): Promise<ClaimedPage> => {
    while (performance.now() < time.endsAt && !isDraining()) {
      const reserved = await reservations.current();
      // A shard in this process sends what is behind the cursor, over the same connections.
      const isShared = isShardHere(campaignId);
      const page = await claimReserved(isShared ? { ...reserved, position: '' } : reserved);
      reservations.claimed(page.rows.length);
      if (page.rows.length > 0 || page.isFencedOff) return page;
      if (isShared) await sleep(SHARED_POLL_MS, undefined, { signal }).catch(() => {});
      else if (reserved.isAll && !(await snapshot.mayFollow())) return page;
      else await reservations.pass();
    }
    return NO_PAGE;
  };
}

/** How often a run looks for messages that are due while a shard in its process sends the others. */
const SHARED_POLL_MS = 250;

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

/** Cancels the unsent messages of a canceled campaign. Claims left by a dead attempt are settled. */
export async function cancelRemaining(campaignId: string, claim: string, onPage: () => void): Promise<Counts> {
  await pool.query('UPDATE campaigns SET fencing_token = $2 WHERE id = $1', [campaignId, claim]);
  await endSnapshot(campaignId);
  await endShards(campaignId, 'all');
  await settleStaleClaims({ campaignId }, claim);
  await cancelCampaignMessages(campaignId, onPage);
  const campaign = await readCampaignRow(campaignId);
  return campaign === undefined ? NO_RECIPIENTS : countsOf(campaign);
}

/**
 * Completes a campaign that has no open messages. `campaign.completed` is recorded only the first time, not when a retry
 * completes the campaign again.
 * @returns whether the calling run has nothing left to do.
 */
export async function complete({ id, run }: CampaignOfRun): Promise<boolean> {
  // Busy shards are counted first, because that is cheaper than to look for an open message.
  if ((await countShards(id)).busy === 0 && !(await isOpen(id))) await close({ id, run });
  const campaign = await readCampaignRow(id);
  return campaign === undefined || campaign.run !== run || campaign.status === 'completed';
}

/** Whether a campaign has open messages, or may get more. */
async function isOpen(id: string): Promise<boolean> {
  const { rows } = await ledgerPool.query(`SELECT FROM campaigns c WHERE id = $1 AND ${OPEN}`, [id]);
  return rows.length > 0;
}

const OPEN = `(frozen_at IS NULL OR EXISTS (SELECT FROM messages m WHERE m.campaign_id = c.id AND m.state IN ('planned', 'claimed')))`;

async function close({ id, run }: CampaignOfRun): Promise<void> {
  await inLedgerTransaction(async (client) => {
    // Shards have nothing left to send, and their counts belong in the event.
    await endShards(id, 'all', client);
    // Lock the campaign before checking its messages, so that a concurrent retry runs entirely before or after this.
    const before = await client.query<{ first_completed_at: Date | null }>(
      'SELECT first_completed_at FROM campaigns WHERE id = $1 FOR NO KEY UPDATE',
      [id],
    );
    const { rows } = await client.query<CampaignRow & { delivered_count: number }>(
      `UPDATE campaigns c SET status = 'completed', completed_at = now(), first_completed_at = coalesce(first_completed_at, now())
       WHERE id = $1 AND run = $2 AND status = 'sending' AND NOT ${OPEN} RETURNING *`,
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
}
