import { findProgress } from '@postroom/campaigns';
import { MAIL_POLICY } from '@postroom/ledger';
import { subscribe, subscription } from '@postroom/platform';
import { type AbTest, getAbTest, topicOf } from './ab-tests.ts';

const { progressPollMs: POLL_INTERVAL_MS } = MAIL_POLICY.campaign;

/** The campaigns of a test that was started: its variants, and the one for the rest. */
const campaignsOf = ({ status, variantIds, finalCampaignId }: AbTest): string[] =>
  status === 'draft' ? [] : [...variantIds, ...(finalCampaignId === null ? [] : [finalCampaignId])];

/**
 * Yields a test now and after each change of it or of its campaigns, until all of them have ended. Changes are coalesced: those that
 * arrive while one state is being delivered show up in the next.
 * @throws DomainError `not_found`, also once it is deleted.
 */
export function watchAbTest(projectId: string, id: string): AsyncIterableIterator<AbTest> {
  return subscription(async function* (signal) {
    let followed: string[] = [];
    let shown = '';
    while (!signal.aborted) {
      const topics = [topicOf(id), ...followed.map((campaignId) => `campaign ${campaignId}`)];
      // Only campaigns that are sent may miss a notification.
      const options = followed.length === 0 ? {} : { pollMs: POLL_INTERVAL_MS };
      for await (const _ of subscribe(topics, signal, options)) {
        const test = await getAbTest(projectId, id);
        const ids = campaignsOf(test);
        const campaigns = await findProgress(projectId, ids);
        const state = JSON.stringify([test, campaigns]);
        if (state !== shown) yield test;
        shown = state;
        const isOver = (status: string) => status === 'completed' || status === 'canceled';
        if (isOver(test.status) && campaigns.every(({ status }) => isOver(status))) return;
        if (ids.length === followed.length) continue;
        followed = ids;
        break;
      }
    }
  });
}
