import { LRUCache } from 'lru-cache';

/** Campaigns notified within the interval, in milliseconds. Subscribers read the current state each time. */
const recentlyNotified = new LRUCache<string, true>({ max: 1_000, ttl: 250 });

/** The notification payload for a campaign's subscribers, or an empty string if one was sent within the interval. */
export function campaignNotice(campaignId: string): string {
  if (recentlyNotified.has(campaignId)) return '';
  recentlyNotified.set(campaignId, true);
  return `campaign ${campaignId}`;
}
