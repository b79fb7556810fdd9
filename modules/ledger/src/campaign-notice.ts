/** Minimum interval between notifications of one campaign, in milliseconds. Subscribers read the current state each time. */
const NOTICE_INTERVAL_MS = 250;
const MAX_TRACKED_CAMPAIGNS = 1_000;

const noticedAt = new Map<string, number>();

/** The notification payload for a campaign's subscribers, or an empty string if one was sent within the interval. */
export function campaignNotice(campaignId: string, now = Date.now()): string {
  if (now - (noticedAt.get(campaignId) ?? 0) < NOTICE_INTERVAL_MS) return '';
  if (noticedAt.size >= MAX_TRACKED_CAMPAIGNS) noticedAt.clear();
  noticedAt.set(campaignId, now);
  return `campaign ${campaignId}`;
}
