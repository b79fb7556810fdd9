import type * as webhooks from '@postroom/webhooks/activities';
import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';

const { attemptBatch } = proxyActivities<typeof webhooks>({
  startToCloseTimeout: '1 minute', // it begins no POST after 5 seconds, and one takes at most 10
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  summary: 'First attempts',
});

/** The first attempts of deliveries in a burst; each that is not acknowledged goes on in a workflow of its own. */
export async function deliverBatch(deliveryIds: string[]): Promise<webhooks.BatchOutcome> {
  const outcome = await attemptBatch(deliveryIds);
  const { acknowledged, retried, returned } = outcome;
  setCurrentDetails(
    `${acknowledged} acknowledged, ${retried} to be retried, ${returned} given back before an attempt.`,
  );
  return outcome;
}
