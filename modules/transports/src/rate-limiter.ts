import type { Traffic } from './smtp-pools.ts';
import { TokenBucket } from '@postroom/platform';

/** Limits the send rate of this process across all traffic; transactional mail has priority. */
export class RateLimiter {
  readonly #bucket: TokenBucket;
  readonly #waiting: Record<Traffic, (() => void)[]> = { transactional: [], campaigns: [] };

  /** Messages per second; null for no limit. */
  constructor(ratePerSecond: number | null) {
    this.#bucket = new TokenBucket({ ratePerSecond });
  }

  setRate(ratePerSecond: number | null): void {
    this.#bucket.setRate(ratePerSecond);
    this.#release();
  }

  /** Resolves when the next message of this traffic may be sent. */
  acquire(traffic: Traffic): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting[traffic].push(resolve);
      this.#release();
    });
  }

  #release(): void {
    const { transactional, campaigns } = this.#waiting;
    while (transactional.length + campaigns.length > 0 && this.#bucket.take(() => this.#release())) {
      (transactional.shift() ?? campaigns.shift())?.();
    }
  }
}
