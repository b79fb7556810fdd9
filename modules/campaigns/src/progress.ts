import { listen, subscription } from '@postroom/platform';
import { type Campaign, getCampaign } from './campaigns.ts';

const FINAL: ReadonlySet<Campaign['status']> = new Set(['completed', 'canceled']);

/** After a campaign has ended, reports of delivery still come in; who watches sees them for so long, in milliseconds. */
const AFTERGLOW_MS = 10_000;
/** A row is looked at again after so long even if nobody said that it changed. */
const LOOK_EVERY_MS = 2_000;

/**
 * The campaign as it is now, then each time it has changed, until some time after its end. However fast it changes,
 * nothing piles up: what changes while one state is being sent is seen in the next.
 * @throws DomainError `not_found`.
 */
export function watchCampaign(projectId: string, id: string): AsyncIterableIterator<Campaign> {
  return subscription((left) => changesOf(projectId, id, left));
}

async function* changesOf(projectId: string, id: string, left: AbortSignal): AsyncGenerator<Campaign, void> {
  const bell = new Bell();
  left.addEventListener('abort', () => bell.ring());
  const stopListening = await listen(`campaign ${id}`, () => bell.ring());
  try {
    let shown = '';
    for (let endedAt = Infinity; !left.aborted;) {
      const campaign = await getCampaign(projectId, id);
      const state = JSON.stringify(campaign);
      if (state !== shown) yield campaign;
      shown = state;
      if (FINAL.has(campaign.status)) endedAt = Math.min(endedAt, Date.now());
      if (Date.now() >= endedAt + AFTERGLOW_MS || isSettled(campaign)) return;
      await bell.rung(LOOK_EVERY_MS);
    }
  } finally {
    await stopListening();
  }
}

/** Ended, and every message that was accepted has been reported on. */
function isSettled({ status, acceptedCount, deliveredCount, bouncedCount }: Campaign): boolean {
  return FINAL.has(status) && deliveredCount + bouncedCount >= acceptedCount;
}

/** Rings that come while nobody waits are one ring for who waits next. */
class Bell {
  #rung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  async rung(timeoutMs: number): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#rung = false;
    this.#wake = undefined;
  }
}
