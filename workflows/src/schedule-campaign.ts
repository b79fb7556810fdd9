import type * as campaigns from '@postroom/campaigns/activities';
import { proxyActivities, setCurrentDetails, sleep } from '@temporalio/workflow';

const { startScheduledCampaign } = proxyActivities<typeof campaigns>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '15 seconds' },
  summary: 'Start the campaign',
});

/**
 * Waits until a campaign's time has come and starts it. One that was sent, canceled or moved to another time meanwhile is
 * left alone: each time has a workflow of its own.
 */
export async function scheduleCampaign(
  campaignId: string,
  scheduledAt: string,
): Promise<'started' | 'moved' | 'paused'> {
  setCurrentDetails(`Starts the campaign at ${scheduledAt}.`);
  await sleep(Math.max(1, new Date(scheduledAt).getTime() - Date.now()), {
    summary: 'Until the time it is scheduled for',
  });
  return startScheduledCampaign(campaignId, scheduledAt);
}
