import { MAIL_POLICY } from '@postroom/ledger';
import { subscribe, subscription } from '@postroom/platform';
import { type Campaign, getCampaign } from './campaigns.ts';

const FINAL: ReadonlySet<Campaign['status']> = new Set(['completed', 'canceled']);

const { lingerMs: LINGER_MS, progressPollMs: POLL_INTERVAL_MS } = MAIL_POLICY.campaign;

/**
 * Yields the campaign now and after each change, until shortly after its end. Changes are coalesced: those that arrive while one
 * state is being delivered show up in the next.
 * @throws DomainError `not_found`.
 */
export function watchCampaign(projectId: string, id: string): AsyncIterableIterator<Campaign> {
  return subscription(async function* (signal) {
    let shown = '';
    let endedAt = Infinity;
    for await (const _ of subscribe(`campaign ${id}`, signal, { pollMs: POLL_INTERVAL_MS })) {
      const campaign = await getCampaign(projectId, id);
      const state = JSON.stringify(campaign);
      if (state !== shown) yield campaign;
      shown = state;
      if (FINAL.has(campaign.status)) endedAt = Math.min(endedAt, performance.now());
      if (performance.now() >= endedAt + LINGER_MS || isSettled(campaign)) return;
    }
  });
}

/** The campaign has ended, and every accepted message was delivered, bounced or rejected. */
function isSettled({ status, acceptedCount, deliveredCount, bouncedCount, rejectedCount }: Campaign): boolean {
  return FINAL.has(status) && deliveredCount + bouncedCount + rejectedCount >= acceptedCount;
}
