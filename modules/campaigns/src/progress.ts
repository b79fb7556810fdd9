import { listen, subscription } from '@postroom/platform';
import { type Campaign, getCampaign } from './campaigns.ts';

const FINAL: ReadonlySet<Campaign['status']> = new Set(['completed', 'canceled']);

/** How long a subscription stays open for delivery reports after its campaign has ended, in milliseconds. */
const LINGER_MS = 10_000;
/** How often the row is polled in case a notification was missed. */
const POLL_INTERVAL_MS = 2_000;

/**
 * Yields the campaign now and after each change, until shortly after its end. Changes are coalesced: those that arrive while one
 * state is being delivered show up in the next.
 * @throws DomainError `not_found`.
 */
export function watchCampaign(projectId: string, id: string): AsyncIterableIterator<Campaign> {
  return subscription((signal) => changesOf(projectId, id, signal));
}

async function* changesOf(projectId: string, id: string, signal: AbortSignal): AsyncGenerator<Campaign, void> {
  const notifier = new Notifier();
  signal.addEventListener('abort', () => notifier.notify());
  const stopListening = await listen(`campaign ${id}`, () => notifier.notify());
  try {
    let shown = '';
    for (let endedAt = Infinity; !signal.aborted;) {
      const campaign = await getCampaign(projectId, id);
      const state = JSON.stringify(campaign);
      if (state !== shown) yield campaign;
      shown = state;
      if (FINAL.has(campaign.status)) endedAt = Math.min(endedAt, Date.now());
      if (Date.now() >= endedAt + LINGER_MS || isSettled(campaign)) return;
      await notifier.wait(POLL_INTERVAL_MS);
    }
  } finally {
    await stopListening();
  }
}

/** The campaign has ended, and every accepted message was delivered or bounced. */
function isSettled({ status, acceptedCount, deliveredCount, bouncedCount }: Campaign): boolean {
  return FINAL.has(status) && deliveredCount + bouncedCount >= acceptedCount;
}

/** Notifications without a waiter are coalesced into one for the next waiter. */
class Notifier {
  #isNotified = false;
  #wake: (() => void) | undefined;

  notify(): void {
    this.#isNotified = true;
    this.#wake?.();
  }

  async wait(timeoutMs: number): Promise<void> {
    if (!this.#isNotified) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#isNotified = false;
    this.#wake = undefined;
  }
}
