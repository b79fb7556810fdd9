import type { NewEvent } from '@postroom/platform';

export interface CampaignRef {
  id: string;
  name: string;
}

/** A campaign started sending, with its number of recipients (spec: Event types). */
export const campaignStarted = ({ id, name }: CampaignRef, recipients: number): NewEvent => ({
  type: 'campaign.started',
  data: { campaign_id: id, name, recipients },
});

/** A campaign finished sending to all recipients. */
export const campaignCompleted = (
  { id, name }: CampaignRef,
  counts: { sent: number; delivered: number; failed: number },
): NewEvent => ({ type: 'campaign.completed', data: { campaign_id: id, name, ...counts } });

/** A campaign was paused automatically, with the reason. */
export const campaignPaused = ({ id, name }: CampaignRef, reason: string): NewEvent => ({
  type: 'campaign.paused',
  data: { campaign_id: id, name, reason },
});
