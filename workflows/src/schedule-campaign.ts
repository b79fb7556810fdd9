import type * as campaigns from '@postroom/campaigns/activities';
import { setCurrentDetails, sleep } from '@temporalio/workflow';
import { activitiesOn } from './activities-on.ts';

const { startScheduledCampaign } = activitiesOn<typeof campaigns>('campaigns', {
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '15 seconds' },
  summary: 'Start the campaign',
});

/**
 * Waits for a campaign's scheduled time and starts it, unless it was sent, canceled or rescheduled meanwhile. Each scheduled
 * time has its own workflow.
 */
export async function scheduleCampaign(
  campaignId: string,
  scheduledAt: string,
): Promise<'started' | 'moved' | 'paused'> {
  setCurrentDetails(`Starts the campaign at ${scheduledAt}.`);
  await sleep(Math.max(1, new Date(scheduledAt).getTime() - Date.now()), {
    summary: 'Until the scheduled time',
  });
  return startScheduledCampaign(campaignId, scheduledAt);
}
