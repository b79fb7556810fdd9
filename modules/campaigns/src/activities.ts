import { cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { config, FairShare, logger, pool, stopAfterRepeatedErrors } from '@postroom/platform';
import { countWorkers, withHeartbeat, withSlot } from '@postroom/temporal/activity';
import { isWorthSharding, MAIL_POLICY, measureCores, newClaim } from '@postroom/ledger';
import { snapshotRecipients, type RecipientSnapshot } from './snapshot-recipients.ts';
import type { Counts } from './progress-row.ts';
import { pauseScheduled, startScheduled } from './sending.ts';
import { cancelRemaining, complete, pauseAfterErrors, sendUntilDeadline, type SendRun } from './send-run.ts';
import type { Tally } from './send-pages.ts';
import { enterShard, sendShard as sendShardHere } from './send-shard.ts';

export type { Counts, RecipientSnapshot, SendRun };

/** Sending campaigns compete for connections and time, so each project may take at most half of the free slots. */
const sendSlots = new FairShare(config.WORKER_CAMPAIGN_SLOTS);
/** Shards leave the slots of runs alone, which each campaign needs. */
const shardSlots = new FairShare(config.WORKER_CAMPAIGN_SLOTS);
/** A snapshot of a million rows occupies a ledger connection for seconds, and transactional mail needs those connections too. */
const snapshotSlots = new FairShare(2);

/** Runs `work` in a slot of the campaign's project; throws a retryable failure if the project has used its share. */
async function inProjectSlot<T>(share: FairShare, campaignId: string, work: () => Promise<T>): Promise<T> {
  const { rows } = await pool.query<{ project_id: string }>({
    name: 'campaign-project',
    text: 'SELECT project_id FROM campaigns WHERE id = $1',
    values: [campaignId],
  });
  const busy = {
    message: 'Other campaigns of the project are being sent; retrying shortly.',
    retryMs: 1_000 + Math.round(Math.random() * 2_000),
  };
  return withSlot(share.tryAcquire(rows[0]?.project_id ?? ''), busy, work);
}

/** Takes the snapshot of a campaign's recipients, up to the first range that has any, so that sending can begin. Idempotent. */
export async function freezeRecipients(campaignId: string): Promise<RecipientSnapshot> {
  return withShards(campaignId, await takeSnapshot(campaignId, true), 0);
}

/** Takes the rest of a campaign's snapshot while it is being sent. Idempotent. */
export async function freezeRemaining(campaignId: string): Promise<RecipientSnapshot> {
  return takeSnapshot(campaignId, false);
}

function takeSnapshot(campaignId: string, isFirst: boolean): Promise<RecipientSnapshot> {
  return inProjectSlot(snapshotSlots, campaignId, () =>
    withHeartbeat(() =>
      stopAfterRepeatedErrors(
        `freeze ${campaignId}`,
        () => snapshotRecipients(campaignId, { isFirst }),
        async (reason) => {
          const { recipients, suppressed } = (await pauseAfterErrors({ id: campaignId, run: 1 }, reason)).counts;
          return { recipients, suppressed };
        },
      ),
    ),
  );
}

/**
 * Sends for one run and returns the state of the campaign.
 * @param backoffMs how long the workflow waits afterwards if the mail server accepts no mail and names no time.
 */
export async function sendPages(campaignId: string, run = 1, backoffMs = 0): Promise<SendRun> {
  const tally: Tally = {};
  const cores = measureCores();
  const result = await inProjectSlot(sendSlots, campaignId, () =>
    withHeartbeat(
      () =>
        stopAfterRepeatedErrors(
          `send ${campaignId}`,
          () => sendUntilDeadline({ id: campaignId, run }, newClaim(), cancellationSignal(), tally, backoffMs),
          (reason) => pauseAfterErrors({ id: campaignId, run }, reason),
        ),
      tally,
    ),
  );
  return result.status === 'sending' && result.hold === null ? withShards(campaignId, result, cores()) : result;
}

/**
 * Sends a part of a campaign alongside its run, in a worker that sends none of its parts; retried until Temporal has found one.
 * @returns whether its time was up, so that another one should follow.
 */
export function sendShard(campaignId: string, run: number): Promise<boolean> {
  const tally: Tally = {};
  const busy = { message: 'This worker already sends a part of the campaign.', retryMs: 500 };
  return withSlot(enterShard(campaignId), busy, () =>
    inProjectSlot(shardSlots, campaignId, () =>
      withHeartbeat(() => sendShardHere({ id: campaignId, run }, newClaim(), cancellationSignal(), tally), tally),
    ),
  );
}

/** Adds how many workers should send a campaign, unless its run suffices. It is sent without help if that can't be found out. */
async function withShards<Result extends object>(
  campaignId: string,
  result: Result,
  cores: number,
): Promise<Result & { shards?: number }> {
  try {
    const workers = (await isWorthSharding(campaignId, cores)) ? await countWorkers() : 1;
    return workers > 1 ? { ...result, shards: Math.min(workers, MAIL_POLICY.shard.max) } : result;
  } catch (error) {
    logger.warn({ err: error }, 'workers not counted');
    return result;
  }
}

/** Cancels the unsent messages of a canceled campaign. */
export async function cancelRecipients(campaignId: string): Promise<Counts> {
  return withHeartbeat((beat) =>
    stopAfterRepeatedErrors(
      `cancel ${campaignId}`,
      () => cancelRemaining(campaignId, newClaim(), beat),
      // Fails the workflow. Reconciliation starts another run for a canceled campaign with open messages.
      (reason) => Promise.reject(ApplicationFailure.nonRetryable(reason)),
    ),
  );
}

/** Completes a campaign that has no open messages. */
export async function completeCampaign(campaignId: string, run = 1): Promise<boolean> {
  return withHeartbeat(() =>
    stopAfterRepeatedErrors(
      `complete ${campaignId}`,
      () => complete({ id: campaignId, run }),
      async (reason) => (await pauseAfterErrors({ id: campaignId, run }, reason)).status === 'completed',
    ),
  );
}

/** Starts a campaign at its scheduled time, unless it was rescheduled. */
export async function startScheduledCampaign(
  campaignId: string,
  scheduledAt: string,
): Promise<'started' | 'moved' | 'paused'> {
  return stopAfterRepeatedErrors(
    `start ${campaignId} ${scheduledAt}`,
    () => startScheduled(campaignId, new Date(scheduledAt)),
    async (reason) => ((await pauseScheduled(campaignId, new Date(scheduledAt), reason)) ? 'paused' : 'moved'),
  );
}
