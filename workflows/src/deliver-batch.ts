import type * as webhooks from '@postroom/webhooks/activities';
import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';

const { attemptBatch } = proxyActivities<typeof webhooks>({
  startToCloseTimeout: '1 minute', // it starts no POST after 5 seconds, and a POST takes at most 10
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  summary: 'One attempt of each',
});

/** Makes one attempt of each delivery of a batch. Those not acknowledged are retried in another batch when they are due. */
export async function deliverBatch(deliveryIds: string[]): Promise<webhooks.BatchOutcome> {
  const outcome = await attemptBatch(deliveryIds);
  const { acknowledged, retried, returned } = outcome;
  setCurrentDetails(`${acknowledged} acknowledged, ${retried} to be retried, ${returned} released before an attempt.`);
  return outcome;
}
