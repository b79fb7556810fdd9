import type { Traffic } from './smtp-pools.ts';
import { SharedRate, type SharedRateOptions } from '@postroom/platform';
import { TRANSPORT_POLICY } from './policy.ts';

/** Limits a send rate, across all processes. In each, transactional mail has priority. */
export class RateLimiter {
  readonly #rate: SharedRate;
  readonly #waiting: Record<Traffic, (() => void)[]> = { transactional: [], campaigns: [] };
  #isReleasing = false;

  /**
   * @param scope what the rate holds for, such as a provider's id. Limiters of one scope share its rate.
   * @param ratePerSecond messages per second, of all processes together.
   */
  constructor(scope: string, ratePerSecond: number) {
    this.#rate = new SharedRate(`mail ${scope}`, {
      ...optionsOf(ratePerSecond),
      aheadMs: TRANSPORT_POLICY.rateAheadMs,
    });
  }

  setRate(ratePerSecond: number): void {
    this.#rate.setRate(optionsOf(ratePerSecond));
  }

  /** Resolves when the next message of this traffic may be sent. */
  acquire(traffic: Traffic): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting[traffic].push(resolve);
      if (!this.#isReleasing) void this.#release();
    });
  }

  async #release(): Promise<void> {
    this.#isReleasing = true;
    const { transactional, campaigns } = this.#waiting;
    while (transactional.length + campaigns.length > 0) {
      if (this.#rate.tryTake()) (transactional.shift() ?? campaigns.shift())?.();
      else await this.#rate.untilReady(transactional.length + campaigns.length);
    }
    this.#isReleasing = false;
  }
}

/** Messages are spread evenly over time: at most a tenth of a second's worth accumulates, and at least one. */
const optionsOf = (ratePerSecond: number): SharedRateOptions => ({
  ratePerSecond,
  capacity: Math.max(1, ratePerSecond / 10),
});
