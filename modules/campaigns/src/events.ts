import type { NewEvent } from '@postroom/platform';

interface CampaignFacts {
  id: string;
  name: string;
}

/** A campaign began sending, to so many people (spec: Event types). */
export const campaignStarted = ({ id, name }: CampaignFacts, recipients: number): NewEvent => ({
  type: 'campaign.started',
  data: { campaign_id: id, name, recipients },
});

/** A campaign finished sending to all recipients. */
export const campaignCompleted = (
  { id, name }: CampaignFacts,
  counts: { sent: number; delivered: number; failed: number },
): NewEvent => ({ type: 'campaign.completed', data: { campaign_id: id, name, ...counts } });

/** A campaign was auto-paused, and why. */
export const campaignPaused = ({ id, name }: CampaignFacts, reason: string): NewEvent => ({
  type: 'campaign.paused',
  data: { campaign_id: id, name, reason },
});
