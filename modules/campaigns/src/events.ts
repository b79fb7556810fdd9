import { type EventType, MAX_ID_LENGTH, MAX_NAME_LENGTH, type NewEvent } from '@postroom/platform';
import { z } from 'zod';

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

const ref = z.object({
  campaign_id: z.string().max(MAX_ID_LENGTH).describe('Campaign id.'),
  name: z.string().max(MAX_NAME_LENGTH).describe("The campaign's name."),
});
const example = { campaign_id: 'cmp_01k9zq2h6ke4s8x1z3b5d7f9g1', name: 'November news' };

const commanded = (fires: string): EventType => ({ fires, data: ref, example });

/** What users and API keys do to a campaign. The spec reserves `campaign.paused` for automatic pauses. */
export const eventTypes = {
  'campaign.scheduled': {
    fires: 'A user or an API key scheduled a campaign, or changed when it starts.',
    data: ref.extend({
      scheduled_at: z
        .string()
        .length(24)
        .describe('When it starts, with local times in the first time zone: ISO 8601, UTC, with milliseconds.'),
    }),
    example: { ...example, scheduled_at: '2026-11-30T09:00:00.000Z' },
  },
  'campaign.unscheduled': commanded(
    'A user or an API key made a draft of a scheduled campaign, or of one that could not start at its time.',
  ),
  'campaign.paused_manually': commanded('A user or an API key paused a campaign.'),
  'campaign.resumed': commanded('A user or an API key resumed a paused campaign, however it was paused.'),
  'campaign.canceled': commanded(
    'A user or an API key canceled a scheduled, sending or paused campaign, or the A/B test that it belongs to.',
  ),
} satisfies Record<string, EventType>;

/** A campaign starts at a time. */
export const campaignScheduled = ({ id, name }: CampaignRef, at: Date): NewEvent => ({
  type: 'campaign.scheduled',
  data: { campaign_id: id, name, scheduled_at: at.toISOString() },
});

/** A campaign was unscheduled, paused, resumed or canceled by a user or an API key. */
export const campaignCommanded = (
  type: Exclude<keyof typeof eventTypes, 'campaign.scheduled'>,
  { id, name }: CampaignRef,
): NewEvent => ({
  type,
  data: { campaign_id: id, name },
});
