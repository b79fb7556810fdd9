/** Who watches a campaign is told of changes at most so often, in milliseconds; each look shows all that has changed. */
const NOTICE_EVERY_MS = 250;
const MAX_REMEMBERED = 1_000;

const noticedAt = new Map<string, number>();

/** The notification for who watches a campaign, or an empty text when there was one a moment ago. */
export function campaignNotice(campaignId: string, now = Date.now()): string {
  if (now - (noticedAt.get(campaignId) ?? 0) < NOTICE_EVERY_MS) return '';
  if (noticedAt.size >= MAX_REMEMBERED) noticedAt.clear();
  noticedAt.set(campaignId, now);
  return `campaign ${campaignId}`;
}
