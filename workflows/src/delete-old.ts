import type * as webhooks from '@postroom/webhooks/activities';
import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';

const { deleteOldRows } = proxyActivities<typeof webhooks>({
  startToCloseTimeout: '50 minutes', // the next run is an hour after this one, and goes on where it stopped
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '10 seconds', maximumInterval: '5 minutes' },
  summary: 'Delete in batches',
});

/** Deletes events, deliveries and attempts that are older than they have to be kept; a schedule runs it every hour. */
export async function deleteOld(): Promise<webhooks.Deleted> {
  const deleted = await deleteOldRows();
  const { deliveries, events, idempotencyKeys, givenUp } = deleted;
  setCurrentDetails(
    `${deliveries} deliveries, ${events} events and ${idempotencyKeys} idempotency keys deleted; ${givenUp} deliveries to disabled endpoints given up.`,
  );
  return deleted;
}
