import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { config, FairShare, pool, stopAfterRepeatedErrors } from '@postroom/platform';
import { newClaim } from '@postroom/ledger';
import { snapshotRecipients, type RecipientSnapshot } from './snapshot-recipients.ts';
import type { Counts } from './progress-row.ts';
import { startScheduled } from './sending.ts';
import {
  cancelRemaining,
  complete,
  pauseAfterErrors,
  sendUntilDeadline,
  type Tally,
  type SendRun,
} from './send-run.ts';
import { autoPause } from './send-monitor.ts';

export type { Counts, RecipientSnapshot, SendRun };

const BEAT_MS = 2_000;

/** Tells Temporal that the activity lives, and how far it is, until its work ends. */
async function beating<T>(work: () => Promise<T>, progress: object = {}): Promise<T> {
  const beat = setInterval(() => heartbeat(progress), BEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(beat);
  }
}

/** Campaigns that send take connections and time from each other: a project gets half of what is left. */
const senders = new FairShare(config.WORKER_CAMPAIGN_SLOTS);
/** One statement that writes a million rows holds a connection of the ledger for a while; transactional mail needs them, too. */
const freezers = new FairShare(2);

/** Works for a campaign, or comes back shortly while its project has its share. */
async function inTurn<T>(share: FairShare, campaignId: string, work: () => Promise<T>): Promise<T> {
  const { rows } = await pool.query<{ project_id: string }>({
    name: 'campaign-project',
    text: 'SELECT project_id FROM campaigns WHERE id = $1',
    values: [campaignId],
  });
  const release = share.tryAcquire(rows[0]?.project_id ?? '');
  if (release === undefined) {
    throw ApplicationFailure.create({
      message: 'Other campaigns of the project are being sent; retrying shortly.',
      type: 'Busy',
      category: ApplicationFailureCategory.BENIGN,
      nextRetryDelay: 1_000 + Math.round(Math.random() * 2_000),
    });
  }
  try {
    return await work();
  } finally {
    release();
  }
}

/** Writes a campaign's recipients into the ledger, once. */
export async function freezeRecipients(campaignId: string): Promise<RecipientSnapshot> {
  return inTurn(freezers, campaignId, () =>
    beating(() =>
      stopAfterRepeatedErrors(
        `freeze ${campaignId}`,
        () => snapshotRecipients(campaignId),
        async (reason) => {
          const { recipients, suppressed } = (await pauseAfterErrors({ id: campaignId, run: 1 }, reason)).counts;
          return { recipients, suppressed };
        },
      ),
    ),
  );
}

/** Sends for a while, and says where the campaign stands. */
export async function sendPages(campaignId: string, run = 1): Promise<SendRun> {
  const tally: Tally = {};
  return inTurn(senders, campaignId, () =>
    beating(
      () =>
        stopAfterRepeatedErrors(
          `send ${campaignId}`,
          () => sendUntilDeadline({ id: campaignId, run }, newClaim(), cancellationSignal(), tally),
          (reason) => pauseAfterErrors({ id: campaignId, run }, reason),
        ),
      tally,
    ),
  );
}

/** Closes what a canceled campaign has not sent. */
export async function cancelRecipients(campaignId: string): Promise<Counts> {
  return beating(() =>
    stopAfterRepeatedErrors(
      `cancel ${campaignId}`,
      () => cancelRemaining(campaignId, newClaim(), () => heartbeat()),
      // Ends the workflow. What is still open of a canceled campaign is looked at again by another one.
      (reason) => Promise.reject(ApplicationFailure.nonRetryable(reason)),
    ),
  );
}

/** Completes a campaign of which nothing is open any more. */
export async function completeCampaign(campaignId: string, run = 1): Promise<boolean> {
  return beating(() =>
    stopAfterRepeatedErrors(
      `complete ${campaignId}`,
      () => complete({ id: campaignId, run }),
      async (reason) => (await pauseAfterErrors({ id: campaignId, run }, reason)).status === 'completed',
    ),
  );
}

/** Starts a campaign whose time has come, unless it was moved to another. */
export async function startScheduledCampaign(
  campaignId: string,
  scheduledAt: string,
): Promise<'started' | 'moved' | 'paused'> {
  return stopAfterRepeatedErrors(
    `start ${campaignId} ${scheduledAt}`,
    () => startScheduled(campaignId, new Date(scheduledAt)),
    async (reason) => {
      await autoPause(campaignId, `It could not start at its time. ${reason}`, { from: 'scheduled' });
      return 'paused' as const;
    },
  );
}
