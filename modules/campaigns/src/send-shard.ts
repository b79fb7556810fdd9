import {
  checkNotHeld,
  countShards,
  endShards,
  MAIL_POLICY,
  openShard,
  renewShard,
  ShardRanges,
  SnapshotEnd,
} from '@postroom/ledger';
import { drainSignal, logger } from '@postroom/platform';
import { type CampaignOfRun, readCampaignRow } from './progress-row.ts';
import { autoPause } from './send-monitor.ts';
import { prepare, type Sender, sendPages, type Tally } from './send-pages.ts';

const { minWidth, renewMs, runMs } = MAIL_POLICY.shard;

/** Campaigns of which this process sends a shard, and those of them whose shard still claims messages. */
const here = new Set<string>();
const claiming = new Set<string>();

/** Whether a shard of a campaign claims messages in this process. */
export const isShardHere = (campaignId: string): boolean => claiming.has(campaignId);

/** @returns a function that lets another shard of the campaign be sent here; undefined if one is. */
export function enterShard(campaignId: string): (() => void) | undefined {
  if (here.has(campaignId)) return undefined;
  here.add(campaignId);
  return () => void here.delete(campaignId);
}

/**
 * Sends a part of a campaign alongside its run: ranges of messages, which it takes from the campaign's cursor one after another, until its
 * time is up or none is left. If recipients get the campaign at their local time, it claims all messages that are due, too; otherwise the
 * run claims the few that were deferred.
 * @returns whether its time was up.
 */
export async function sendShard(of: CampaignOfRun, claim: string, signal: AbortSignal, tally: Tally): Promise<boolean> {
  const { epoch } = await checkNotHeld();
  const campaign = await readCampaignRow(of.id);
  if (campaign?.status !== 'sending' || campaign.run !== of.run) return false;
  const prepared = await prepare(campaign);
  // A mailbox account sends one message after the other, and a domain that is warming up only few.
  if (prepared === undefined || prepared.byMailbox || prepared.volume !== undefined) return false;
  if (prepared.route.width < minWidth * ((await countShards(of.id)).all + 1)) return false;
  if (!(await openShard(of, claim))) return false;
  const renewing = setInterval(() => void renewShard(claim).catch(warn), renewMs);
  claiming.add(of.id);
  const deadline = performance.now() + runMs;
  const snapshot = new SnapshotEnd(of.id, AbortSignal.any([signal, drainSignal]), { endsAt: deadline });
  const withDue = campaign.time_zone_field !== null;
  const ranges = new ShardRanges(of.id, claim, { withDue, deadline, mayFollow: () => snapshot.mayFollow() });
  try {
    const next: Sender['next'] = async (claimReserved) => {
      const page = await ranges.next(claimReserved);
      if (page.rows.length === 0) claiming.delete(of.id); // what is in flight may take long
      return page;
    };
    const backoff = await sendPages(campaign, prepared, { claim, by: 'shard', epoch, signal, tally, next });
    if (backoff?.cause === 'configuration')
      await autoPause(of.id, `The mail server rejects our credentials or settings: ${backoff.answer}`);
    return ranges.isTimeUp;
  } finally {
    claiming.delete(of.id);
    clearInterval(renewing);
    // If it fails, or the last range is not reserved, the run ends the shard when it expires.
    if (ranges.isReserved) await endShards(of.id, { token: claim });
  }
}

const warn = (error: unknown) => logger.warn({ err: error }, 'shard not renewed; will retry');
