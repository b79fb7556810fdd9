import type { CampaignStatus, RecipientState } from '../../generated/graphql.ts';
import { formatShare } from '../../components/numbers.ts';
import type { Tone } from '../../components/badge.tsx';

export const STATUS_LABELS: Record<CampaignStatus, [tone: Tone, label: string]> = {
  draft: ['quiet', 'Draft'],
  scheduled: ['busy', 'Scheduled'],
  sending: ['busy', 'Sending'],
  paused: ['warn', 'Paused'],
  completed: ['good', 'Completed'],
  canceled: ['quiet', 'Canceled'],
};

/** Whether a campaign changes without a user. */
export const changesOnItsOwn = ({ status }: { status: CampaignStatus }): boolean =>
  status === 'scheduled' || status === 'sending' || status === 'paused';

/** Recipient states in bar order, with description and color. */
export const RECIPIENT_LABELS: Record<RecipientState, { label: string; tone: Tone; color: string; meaning: string }> = {
  accepted: { label: 'Sent', tone: 'good', color: 'pine.6', meaning: 'The provider accepted the message.' },
  claimed: { label: 'In flight', tone: 'busy', color: 'blue.5', meaning: 'The message is being sent.' },
  planned: {
    label: 'Waiting',
    tone: 'quiet',
    color: 'gray.4',
    meaning: 'Not sent yet, waiting for the recipient’s local time, or deferred by a server and being retried.',
  },
  failed: { label: 'Failed', tone: 'bad', color: 'red.6', meaning: 'A server rejected it permanently.' },
  unknown: {
    label: 'Unknown',
    tone: 'warn',
    color: 'yellow.6',
    meaning: 'The connection dropped when the server may already have accepted it. It is not retried automatically.',
  },
  suppressed: {
    label: 'Suppressed',
    tone: 'quiet',
    color: 'grape.5',
    meaning: 'The address is suppressed, so nothing was sent.',
  },
  canceled: { label: 'Canceled', tone: 'quiet', color: 'gray.6', meaning: 'The campaign ended before it was sent.' },
};

export const number = (value: number) => value.toLocaleString();

const tenths = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** A percentage, or a dash if the total is zero. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return '–';
  const share = (part / whole) * 100;
  // Never rounds to exactly 0 or 100%.
  const isNear = (share > 0 && share < 10) || (share > 99 && share < 100);
  return isNear ? formatShare(Math.min(99.9, share) / 100, 1, 1) : formatShare(part / whole);
}

/** Formats a duration. */
export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${tenths.format(seconds / 3600)} h`;
}

/** The base of engagement rates: delivered or, if delivery is not reported, accepted messages. */
export interface Reach {
  count: number;
  basis: 'delivered' | 'accepted';
}

export const reachOf = ({ sent, delivered }: { sent: number; delivered: number }): Reach =>
  delivered > 0 || sent === 0 ? { count: delivered, basis: 'delivered' } : { count: sent, basis: 'accepted' };

/** A rate of humans. */
export const formatEngagementRate = (humans: number, { count, basis }: Reach): string =>
  `${percent(humans, count)} of ${basis}`;

/** The delivery rate, or a note if only acceptance is known. */
export const deliveredShare = (engagement: { sent: number; delivered: number }): string =>
  reachOf(engagement).basis === 'accepted' ? 'not reported' : percent(engagement.delivered, engagement.sent);

/** A sentence describing a campaign's tracking. */
export function describeTracking(opens: boolean, clicks: boolean): string {
  if (opens && clicks) return 'Opens and clicks are tracked.';
  if (!opens && !clicks) return 'Opens and clicks are not tracked.';
  return opens ? 'Opens are tracked; clicks are not.' : 'Clicks are tracked; opens are not.';
}
