import type { Traffic } from './smtp-pools.ts';
import { TokenBucket } from '@postroom/platform';

/** Lets messages go at a rate that all traffic of this process shares; transactional mail goes first. */
export class RateLimiter {
  readonly #bucket = new TokenBucket();
  readonly #lines: Record<Traffic, (() => void)[]> = { transactional: [], campaigns: [] };

  /** Messages per second; null for no limit. */
  constructor(ratePerSecond: number | null) {
    this.#bucket.setRate(ratePerSecond);
  }

  setRate(ratePerSecond: number | null): void {
    this.#bucket.setRate(ratePerSecond);
    this.#advance();
  }

  /** Resolves when the next message of this traffic may go. */
  acquire(traffic: Traffic): Promise<void> {
    return new Promise((resolve) => {
      this.#lines[traffic].push(resolve);
      this.#advance();
    });
  }

  #advance(): void {
    const { transactional, campaigns } = this.#lines;
    while (transactional.length + campaigns.length > 0 && this.#bucket.take(() => this.#advance())) {
      (transactional.shift() ?? campaigns.shift())?.();
    }
  }
}
