import {
  type Backoff,
  campaignNotice,
  cancelCampaignMessages,
  type Capped,
  type Claimable,
  type ClaimedPage,
  type ClaimedRecipient,
  claimPage,
  type CountedBy,
  ledgerPool,
  MAIL_POLICY,
  NO_PAGE,
  openInFlightJournal,
  releaseClaims,
  ReplyWatch,
  SendPipeline,
  SendTrace,
  settle,
  type Settlement,
  UnrecordedError,
  watchCampaignStatus,
  withRetries,
} from '@postroom/ledger';
import { MessageError } from '@postroom/mime';
import { type Route, routeFor, sendingProblem } from '@postroom/transports';
import { readTracking, storeLinks } from '@postroom/tracking';
import { type DayVolume, dayVolume } from '@postroom/domains';
import {
  databaseTime,
  drainSignal,
  isDraining,
  logger,
  paceBulkWork,
  runBulkStep,
  Stopwatch,
} from '@postroom/platform';
import { type CampaignFrame, compileCampaign, contentOf } from './content.ts';
import { type CampaignRow, setWaiting } from './progress-row.ts';
import { frequencyCapOf, getPolicy } from '@postroom/sending-policy';
import { autoPause, fieldInWords, pauseOverThreshold, SendMonitor } from './send-monitor.ts';

/** Messages settled so far in this run, by state. */
export type Tally = Partial<Record<Settlement['state'], number>>;

/** A campaign's content and the limits that it is sent within. */
export interface Prepared {
  frame: CampaignFrame;
  route: Route;
  /** Reads the route again, because settings may have changed. */
  readRoute: () => Promise<Route>;
  /** Whether it is sent from a mailbox account. */
  byMailbox: boolean;
  monitor: SendMonitor;
  /** The domain's daily quota; undefined unless it is warming up. */
  volume: DayVolume | undefined;
  /** The project's frequency cap; undefined if it has none. */
  cap: Capped | undefined;
}

/** @returns undefined if the campaign's message can't be composed or its domain may no longer send, and pauses it. */
export async function prepare(campaign: CampaignRow): Promise<Prepared | undefined> {
  const { id, project_id: projectId } = campaign;
  const frame = await compileOrPause(campaign);
  if (frame === undefined) return undefined;
  await pauseOverThreshold(id); // apply reports received since the last run before claiming anything
  const policy = await getPolicy(projectId);
  const frequencyCap = frequencyCapOf(policy);
  const byMailbox = await usesMailbox(id);
  const problem = byMailbox ? undefined : await sendingProblem(projectId, frame.from);
  if (problem !== undefined) {
    await autoPause(id, problem);
    return undefined;
  }
  const readRoute = () => routeFor({ projectId, fromEmail: frame.from, traffic: 'campaigns', byMailbox });
  return {
    frame,
    route: await readRoute(),
    readRoute,
    byMailbox,
    monitor: new SendMonitor(id, campaign.refusals_in_row, policy.refusalsInRow),
    volume: await dayVolume(projectId, frame.from),
    cap: frequencyCap && { ...frequencyCap, projectId },
  };
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
    await autoPause(row.id, `The message could not be composed (${fieldInWords(error.field)}): ${error.message}`);
    return undefined;
  }
}

/** What sends a campaign's messages: its run, or a shard. */
export interface Sender {
  /** Its fencing token. */
  claim: string;
  by: CountedBy;
  /** The installation's epoch. */
  epoch: number;
  signal: AbortSignal;
  tally: Tally;
  /** Claims the next page of what it has reserved; no rows end it. */
  next: (claimReserved: (reserved: Claimable) => Promise<ClaimedPage>) => Promise<ClaimedPage>;
  /** Continues after its time, while the server takes long for some messages. @returns false if it must not. */
  extend?: () => boolean;
}

/** Sends pages until the sender claims no more. @returns why the mail server accepts no more mail, if that is the reason. */
export async function sendPages(
  { id: campaignId, project_id: projectId }: CampaignRow,
  { frame, route: firstRoute, readRoute, monitor, volume, cap }: Prepared,
  { claim, by, epoch, signal, tally, next, extend }: Sender,
): Promise<Backoff | undefined> {
  let route = firstRoute;
  const halt = new AbortController();
  let isSending = true;
  const isWanted = () => isSending;
  const replies = new ReplyWatch((isSilent) =>
    by === 'campaign' ? setWaiting(campaignId, null, isSilent ? NO_REPLY : null).catch(warn) : Promise.resolve(),
  );
  const worked = new Stopwatch();
  const step = <T>(work: () => Promise<T>) => runBulkStep(projectId, () => worked.measure(work));
  const trace = new SendTrace(campaignId);
  const journal = openInFlightJournal({ claim, scope: { campaignId }, epoch });
  // A shard's counters reach the campaign later, with a notification.
  const notice = () => (by === 'campaign' ? campaignNotice(campaignId) : '');
  let isRecorded = false;
  const send = async (row: ClaimedRecipient) => {
    const { data, subject } = frame.render(row, databaseTime());
    const message = { id: row.id, from: frame.from, to: row.email, data, stuffed: true, projectId, journal, isWanted };
    const outcome = await replies.send(() => trace.send(row.id, () => route.send(message)));
    if (monitor.isOver({ outcome })) halt.abort();
    return { outcome, subject };
  };
  const pipeline = new SendPipeline<ClaimedRecipient>({
    claim: async (limit) => {
      // A draining worker ends its run, so that another one continues at once.
      if (isDraining()) return NO_PAGE;
      await paceBulkWork(projectId, worked.take(), AbortSignal.any([signal, drainSignal]));
      const granted = volume === undefined ? limit : await volume.take(limit);
      if (granted === 0) return NO_PAGE;
      const page = await trace.claim(() =>
        next((reserved) =>
          step(() => claimPage(campaignId, claim, granted, frame.needsCustomFields, reserved, cap, by)),
        ),
      );
      await volume?.release(granted - page.rows.length);
      return page;
    },
    send,
    journal,
    settle: async (settlements) => {
      await trace.settle(settlements, () =>
        withRetries(() => step(() => settle(claim, settlements, notice(), by)), signal),
      );
      for (const { state } of settlements) tally[state] = (tally[state] ?? 0) + 1;
      // The outcomes are recorded. A failure to update limits below must not make them look unrecorded.
      const returned = settlements.filter(({ state }) => state === 'planned').length;
      await withRetries(async () => volume?.release(returned), signal).catch(warn);
      await monitor.note(settlements).catch(warn);
    },
    extend: async () => {
      if (extend?.() !== true) return false;
      route = await readRoute();
      return true;
    },
    signal: AbortSignal.any([signal, halt.signal]),
    width: () => route.width,
  });
  let canceling: Promise<void> | undefined;
  const stopWatching = watchCampaignStatus(campaignId, (status) => {
    isSending = status === 'sending';
    if (!isSending) pipeline.release();
    // Messages in flight may keep the run, which cancels the rest, waiting for minutes.
    if (status === 'canceled' && by === 'campaign') canceling ??= cancelCampaignMessages(campaignId).catch(warn);
  });
  try {
    const backoff = await pipeline.run();
    isRecorded = true;
    return backoff;
  } catch (error) {
    if (!(error instanceof UnrecordedError)) {
      await withRetries(() => releaseClaims({ claim, scope: { campaignId }, epoch }), signal);
      isRecorded = true;
    }
    throw error;
  } finally {
    stopWatching();
    journal.close({ isRecorded });
    await Promise.all([canceling, replies.close()]);
  }
}

const warn = (error: unknown) => logger.warn({ err: error }, 'campaign not updated');

const NO_REPLY = `The mail server has not replied for ${MAIL_POLICY.pipeline.silentMs / 1000} seconds.`;

/** Whether the campaign is sent from a mailbox account. The snapshot fixes this, because mailbox mail emits different events. */
async function usesMailbox(campaignId: string): Promise<boolean> {
  const { rows } = await ledgerPool.query<{ mailbox_id: string | null }>(
    'SELECT mailbox_id FROM messages WHERE campaign_id = $1 ORDER BY id LIMIT 1',
    [campaignId],
  );
  return rows[0]?.mailbox_id != null;
}
