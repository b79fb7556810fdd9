import type { Notice } from '@postroom/notifications';
import type { CampaignRef } from './events.ts';

/** The notice that a campaign was paused automatically. */
export const pausedNotice = ({ id, name }: CampaignRef, reason: string): Notice => ({
  kind: 'campaign_paused',
  subjectId: id,
  title: `The campaign "${name}" was paused`,
  detail: reason,
  advice: 'Nothing more is sent until you resume or cancel the campaign:',
});

/** The notice that a completed campaign blocks campaigns from its sender's domain. */
export const blockedNotice = ({ id, name }: CampaignRef, domain: string, reason: string): Notice => ({
  kind: 'sender_blocked',
  subjectId: id,
  title: `Campaigns from ${domain} are blocked`,
  detail: `After the campaign "${name}" was completed: ${reason}`,
  advice: `No other campaign from ${domain} can be sent until you acknowledge this on the campaign's page:`,
});
