import {
  campaignNotice,
  markStaleClaimsUnknown,
  releaseClaims,
  type Backoff,
  inLedgerTransaction,
  ledgerPool,
  runSendPipeline,
  settle,
  type Settlement,
  UnrecordedError,
  withRetries,
} from '@postroom/ledger';
import { MessageError } from '@postroom/mime';
import { routeFor } from '@postroom/transports';
import { readTracking, storeLinks } from '@postroom/tracking';
import { type DayVolume, dayVolume, nextDay } from '@postroom/domains';
import { logger, pool, record } from '@postroom/platform';
import { claimPage, type ClaimedRecipient, acquireFence } from './claim.ts';
import { type CampaignFrame, compileCampaign } from './content.ts';
import { campaignCompleted } from './events.ts';
import { snapshotRecipients } from './snapshot-recipients.ts';
import { type CampaignRow, type Counts, countsOf, readCampaignRow } from './progress-row.ts';
import { getPolicy } from './policy.ts';
import { autoPause, pauseOverThreshold, SendMonitor } from './send-monitor.ts';

/** How a turn of the sender ended. */
export interface SendRun {
  status: CampaignRow['status'] | 'deleted' | 'superseded';
  counts: Counts;
  /** Milliseconds until there is something to send, 0 for now; null when nothing is planned any more. */
  waitMs: number | null;
  /** Why the mail server takes nothing now, and how long it is to be left alone if it said so. */
  hold: { answer: string; waitMs: number | null } | null;
  /** Why it waits for another day, if it does. */
  waiting?: string;
}

/** What became of messages in this turn so far: how many were accepted, failed … */
export type Tally = Partial<Record<Settlement['state'], number>>;

/** A campaign, and which of its workflows asks. */
export interface CampaignOfRun {
  id: string;
  run: number;
}

/** A turn claims for so long, so that the workflow shows where it stands, in milliseconds. */
export const RUN_MS = 15_000;

/**
 * Sends a campaign's messages for a while: pages are claimed before their first byte goes out, and what became of them is
 * recorded as it becomes known. What an older attempt left claimed is closed first, and not sent again.
 */
export async function sendUntilDeadline(
  { id: campaignId, run }: CampaignOfRun,
  claim: string,
  signal: AbortSignal,
  tally: Tally = {},
): Promise<SendRun> {
  const campaign = await acquireFence(campaignId, run, claim);
  if (campaign === undefined) return idleTurn({ id: campaignId, run }, claim);
  if (campaign.claimed_count > 0) await markStaleClaimsUnknown({ campaignId }, claim);
  // Its workflow asked for that before; it was paused then, because it failed again and again.
  if (campaign.frozen_at === null) await snapshotRecipients(campaignId);
  const frame = await compileOrPause(campaign);
  if (frame === undefined) return turnOf(campaign, undefined);
  await pauseOverThreshold(campaignId); // what was reported since the last turn comes before anything is claimed
  const { refusalsInRow } = await getPolicy(campaign.project_id);
  const watch = new SendMonitor(campaignId, campaign.refusals_in_row, refusalsInRow);
  const volume = await dayVolume(campaign.project_id, frame.from);
  const hold = await sendPages(campaign, claim, { frame, signal, tally, watch, volume });
  await watch.close();
  if (hold?.cause === 'configuration') {
    await autoPause(campaignId, `The mail server does not let us send: ${hold.answer}`);
  }
  const turn = await turnOf(campaign, hold);
  const isUsedUp = volume !== undefined && turn.waitMs === 0 && hold === undefined && (await volume.left()) === 0;
  return isUsedUp ? untilTomorrow(campaignId, turn, volume) : turn;
}

/** Of a campaign that was paused when its sender was killed, people see at once what nobody can know. */
async function idleTurn(of: CampaignOfRun, claim: string): Promise<SendRun> {
  const turn = await turnOf(of, undefined);
  if (turn.status !== 'paused' || turn.counts.claimed === 0) return turn;
  await markStaleClaimsUnknown({ campaignId: of.id }, claim);
  return turnOf(of, undefined);
}

/** A campaign that waits for the next day looks again after so long: its plan may have been changed meanwhile. */
const LOOK_AGAIN_MS = 15 * 60_000;

/** Says, on the campaign and in its workflow, that it waits for the next day of its domain's warm-up. */
async function untilTomorrow(campaignId: string, turn: SendRun, { domain, limit }: DayVolume): Promise<SendRun> {
  const until = nextDay();
  const waiting = `The warm-up of ${domain} lets ${limit} messages out today, and they are used up.`;
  await pool.query(
    `WITH waits AS (
       UPDATE campaigns SET waiting_until = $2, waiting_reason = $3 WHERE id = $1 AND status = 'sending'
     ) SELECT pg_notify('postroom', $4)`,
    [campaignId, until, waiting, `campaign ${campaignId}`],
  );
  const waitMs = Math.min(LOOK_AGAIN_MS, Math.max(1, until.getTime() - Date.now()));
  return { ...turn, waitMs, waiting: `${waiting} It goes on at ${until.toISOString()}.` };
}

/** Pauses a campaign whose sending, or completion, fails again and again for a reason of its own. */
export async function pauseAfterErrors(of: CampaignOfRun, reason: string): Promise<SendRun> {
  await autoPause(of.id, `It failed again and again, and would go on to: ${reason}`);
  return turnOf(of, undefined);
}

async function compileOrPause(row: CampaignRow): Promise<CampaignFrame | undefined> {
  try {
    const { subject, html, text } = row;
    const switches = { opens: row.track_opens, clicks: row.track_clicks };
    const frame = await compileCampaign(
      {
        projectId: row.project_id,
        subject,
        html,
        text,
        fromName: row.from_name,
        fromEmail: row.from_email,
        replyTo: row.reply_to,
      },
      await readTracking(row.project_id, row.from_email ?? '', switches),
    );
    await storeLinks([{ id: row.id, links: frame.links }]);
    return frame;
  } catch (error) {
    if (!(error instanceof MessageError)) throw error;
    await autoPause(row.id, `The message can not be made (${error.field}): ${error.message}`);
    return undefined;
  }
}

interface Sending {
  frame: CampaignFrame;
  signal: AbortSignal;
  tally: Tally;
  watch: SendMonitor;
  /** What its domain may send today, while it is in warm-up. */
  volume: DayVolume | undefined;
}

async function sendPages(
  { id: campaignId, project_id: projectId }: CampaignRow,
  claim: string,
  { frame, signal, tally, watch, volume }: Sending,
): Promise<Backoff | undefined> {
  const byMailbox = await goesByMailbox(campaignId);
  const route = await routeFor({ projectId, fromEmail: frame.from, traffic: 'campaigns', byMailbox });
  const lastClaimAt = Date.now() + RUN_MS;
  const send = async (row: ClaimedRecipient) => {
    const { data, subject } = frame.render(row, new Date());
    const message = { id: row.id, from: frame.from, to: row.email, data, stuffed: true, projectId };
    return { outcome: await route.send(message), subject };
  };
  try {
    const { hold } = await runSendPipeline<ClaimedRecipient>({
      claim: async (limit) => {
        if (Date.now() >= lastClaimAt) return NO_PAGE;
        const granted = volume === undefined ? limit : await volume.take(limit);
        if (granted === 0) return NO_PAGE;
        const page = await claimPage(campaignId, claim, granted, frame.needsCustomFields);
        await volume?.giveBack(granted - page.rows.length);
        return page;
      },
      send,
      settle: async (settlements) => {
        await withRetries(() => settle(claim, settlements, campaignNotice(campaignId)), signal);
        for (const { state } of settlements) tally[state] = (tally[state] ?? 0) + 1;
        // What follows is about limits: that it fails must not look as if nothing had been recorded.
        const returned = settlements.filter(({ state }) => state === 'planned').length;
        await withRetries(async () => volume?.giveBack(returned), signal).catch(warn);
        await watch.note(settlements).catch(warn);
      },
      signal,
      width: () => route.width,
    });
    return hold;
  } catch (error) {
    if (!(error instanceof UnrecordedError)) await withRetries(() => releaseClaims({ campaignId }, claim), signal);
    throw error;
  }
}

const warn = (error: unknown) => logger.warn({ err: error }, 'a limit of a campaign could not be looked at');

/** Fixed with the recipients: the events of mail from a mailbox account are others. */
async function goesByMailbox(campaignId: string): Promise<boolean> {
  const { rows } = await ledgerPool.query<{ mailbox_id: string | null }>(
    'SELECT mailbox_id FROM messages WHERE campaign_id = $1 ORDER BY id LIMIT 1',
    [campaignId],
  );
  return rows[0]?.mailbox_id != null;
}

const NO_PAGE = { rows: [], ratePerSecond: null };

async function turnOf({ id, run }: CampaignOfRun, hold: Backoff | undefined): Promise<SendRun> {
  const campaign = await readCampaignRow(id);
  if (campaign === undefined) return { status: 'deleted', counts: NOBODY, waitMs: null, hold: null };
  return {
    status: campaign.run === run ? campaign.status : 'superseded',
    counts: countsOf(campaign),
    waitMs: await untilNext(id),
    hold: hold?.cause === 'host' ? { answer: hold.answer, waitMs: hold.waitMs ?? null } : null,
  };
}

const NOBODY: Counts = {
  recipients: 0,
  planned: 0,
  claimed: 0,
  accepted: 0,
  failed: 0,
  suppressed: 0,
  unknown: 0,
  canceled: 0,
};

async function untilNext(campaignId: string): Promise<number | null> {
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

/** A page of rows, of which what is still planned is canceled; the campaign counts with it. */
const CANCEL_PAGE = `
  WITH page AS (
    SELECT id, state FROM messages WHERE campaign_id = $1 AND id > $2 ORDER BY id LIMIT 10000
  ), canceled AS (
    UPDATE messages m SET state = 'canceled', unsent_at = now(), not_before = NULL, answer = 'The campaign was canceled.'
    FROM page WHERE m.id = page.id AND page.state = 'planned' AND m.state = 'planned' RETURNING m.id
  ), counters AS (
    UPDATE campaigns SET canceled_count = canceled_count + (SELECT count(*) FROM canceled) WHERE id = $1
  ) SELECT max(id) AS last FROM page`;

/** Closes what a canceled campaign has not sent. What was in hand of an attempt that died is unknown. */
export async function cancelRemaining(campaignId: string, claim: string, onPage: () => void): Promise<Counts> {
  await pool.query('UPDATE campaigns SET fencing_token = $2 WHERE id = $1', [campaignId, claim]);
  await markStaleClaimsUnknown({ campaignId }, claim);
  for (let after: string | null = ''; after !== null; onPage()) {
    const { rows }: { rows: { last: string | null }[] } = await ledgerPool.query(CANCEL_PAGE, [campaignId, after]);
    after = rows[0]?.last ?? null;
  }
  const campaign = await readCampaignRow(campaignId);
  return campaign === undefined ? NOBODY : countsOf(campaign);
}

/**
 * Completes a campaign when none of its rows is open. `campaign.completed` is recorded the first time: what is retried
 * afterwards completes it again, which is no news of the campaign. Returns whether the asking run has nothing left to do.
 */
export async function complete({ id, run }: CampaignOfRun): Promise<boolean> {
  await inLedgerTransaction(async (client) => {
    // Held before its messages are looked at: somebody who retries some of them at this moment comes before or after.
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
