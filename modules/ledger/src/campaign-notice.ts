import { LRUCache } from 'lru-cache';
import { MAIL_POLICY } from './policy.ts';

/** Campaigns notified within the interval. Subscribers read the current state each time. */
const recentlyNotified = new LRUCache<string, true>({ max: 1_000, ttl: MAIL_POLICY.campaign.noticeIntervalMs });

/** The notification payload for a campaign's subscribers, or an empty string if one was sent within the interval. */
export function campaignNotice(campaignId: string): string {
  if (recentlyNotified.has(campaignId)) return '';
  recentlyNotified.set(campaignId, true);
  return `campaign ${campaignId}`;
}
