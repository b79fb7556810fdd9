import type * as campaigns from '@postroom/campaigns/activities';
import {
  condition,
  continueAsNew,
  defineSignal,
  patched,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { activitiesOn } from './activities-on.ts';
import { backoffMs, describeBackoff } from './backoff.ts';

/** Commands to a running campaign. The campaign's row already records each one; the signal only wakes the workflow. */
const pause = defineSignal('pause');
const resume = defineSignal('resume');
const cancel = defineSignal('cancel');
const changeRate = defineSignal('changeRate');
const sendAgain = defineSignal('sendAgain');

const retry = { initialInterval: '1 second', maximumInterval: '15 seconds' } as const;
const { freezeRecipients, freezeRemaining } = activitiesOn<typeof campaigns>('campaigns', {
  startToCloseTimeout: '4 hours', // a million rows take about 15 seconds; heartbeats detect a dead attempt sooner
  heartbeatTimeout: '10 seconds',
  retry,
  summary: 'Write the recipients into the ledger',
});
const { sendPages } = activitiesOn<typeof campaigns>('campaigns', {
  startToCloseTimeout: '30 minutes', // it claims for 15 seconds, and the server may take 10 minutes for its last reply
  heartbeatTimeout: '3.5 seconds', // after a kill another worker continues within five seconds
  retry: { ...retry, initialInterval: '500 ms' },
  summary: 'Send',
});
const { sendShard } = activitiesOn<typeof campaigns>('campaigns', {
  startToCloseTimeout: '30 minutes',
  scheduleToStartTimeout: '20 seconds', // without a free worker, the campaign is sent without its help
  heartbeatTimeout: '3.5 seconds',
  retry: { initialInterval: '500 ms', backoffCoefficient: 1, maximumAttempts: 20 }, // a worker that has a shard leaves it to another
  summary: 'Send a shard',
});
const { cancelRecipients } = activitiesOn<typeof campaigns>('campaigns', {
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '10 seconds',
  retry,
  summary: 'Cancel unsent messages',
});
const { completeCampaign } = activitiesOn<typeof campaigns>('campaigns', {
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  retry,
  summary: 'Complete',
});

/** How often the workflow looks whether ranges of recipients or messages in flight have been completed, in milliseconds. */
const POLL_MS = 1_000;

/** How a campaign ended. */
export type CampaignOutcome = 'completed' | 'canceled' | 'deleted' | 'superseded';

/**
 * Sends a campaign until it has no open messages. The ledger in Postgres holds every message; the workflow only starts send
 * runs, so its history holds counts. A campaign that resumes after its workflow has ended gets a new run, and only the newest
 * run may claim messages.
 */
export async function sendCampaign(campaignId: string, run = 1): Promise<CampaignOutcome> {
  let signalReceived = false;
  for (const signal of [pause, resume, cancel, changeRate, sendAgain])
    setHandler(signal, () => void (signalReceived = true));
  const waitForSignal = (timeoutMs?: number) =>
    timeoutMs === undefined ? condition(() => signalReceived) : condition(() => signalReceived, timeoutMs);
  let refusedRuns = 0;

  // Other workers send shards alongside the run. A release without shards may have executed this workflow while activities of a
  // newer one asked for some; a replay must decide the same.
  let maySendShards: boolean | undefined;
  let shards = 0;
  let wantedShards = 0;
  let shardEnded = false;
  const runShard = async () => {
    shards++;
    const isTimeUp = await sendShard(campaignId, run).catch(() => false); // the run sends the rest of its messages
    shards--;
    shardEnded = true;
    if (isTimeUp && shards < wantedShards) void runShard();
  };
  const startShards = (wanted = 0) => {
    if (wanted > 0) maySendShards ??= patched('campaign-shards');
    wantedShards = maySendShards === true ? wanted : 0;
    while (shards < wantedShards) void runShard();
  };

  // The first range of recipients is enough to begin; the others are written meanwhile. Recorded histories have no result here.
  const first: campaigns.RecipientSnapshot | null = await freezeRecipients(campaignId);
  let isCounting = first?.isCounting ?? false;
  let isFreezing = false;
  startShards(first?.shards);
  for (;;) {
    signalReceived = false;
    shardEnded = false;
    if (isCounting && !isFreezing) {
      isFreezing = true;
      void freezeRemaining(campaignId)
        .catch(() => {}) // only if the workflow is being canceled
        .finally(() => (isFreezing = false));
    }
    const result = await sendPages(campaignId, run, backoffMs(refusedRuns + 1));
    isCounting = result.isCounting ?? false;
    setCurrentDetails(describe(result));
    refusedRuns = result.hold === null ? 0 : refusedRuns + 1;
    if (result.status === 'canceled') {
      if (shards > 0) await condition(() => shards === 0);
      setCurrentDetails(describe({ ...result, counts: await cancelRecipients(campaignId) }));
      return 'canceled';
    }
    if (result.status === 'completed' || result.status === 'deleted' || result.status === 'superseded')
      return result.status;
    startShards(result.shards);
    if (result.status !== 'sending') {
      await condition(() => signalReceived || shardEnded); // what a killed shard had claimed is settled at once
    } else if (result.hold !== null) await waitForSignal(result.hold.waitMs ?? backoffMs(refusedRuns));
    else if (result.waitMs === null && isCounting) await waitForSignal(POLL_MS);
    else if (result.waitMs === null) {
      if (await completeCampaign(campaignId, run)) return 'completed';
      // It has just been paused, or an ending attempt or a shard still has a message in flight.
      await condition(() => signalReceived || shardEnded, POLL_MS);
    } else if (result.waitMs > 0) await waitForSignal(result.waitMs);
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof sendCampaign>(campaignId, run);
  }
}

function describe({ status, counts, hold, waiting, isCounting }: campaigns.SendRun): string {
  const { recipients, accepted, planned, claimed, failed, suppressed, unknown, canceled } = counts;
  const rest = Object.entries({ failed, suppressed, unknown, canceled }).filter(([, count]) => count > 0);
  const total = isCounting ? `${recipients} or more` : recipients;
  const parts = [`**${accepted} of ${total} sent**`, ...rest.map(([state, count]) => `${count} ${state}`)];
  const open = planned + claimed;
  const held = describeBackoff(hold?.answer ?? null);
  const waits = waiting === undefined ? '' : `\n\n${waiting}`;
  return `${status}: ${parts.join(', ')}${open > 0 ? `, ${open} to go` : ''}${held}${waits}`;
}
