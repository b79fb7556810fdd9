export interface TokenBucketOptions {
  /** Tokens per second; null for no limit. */
  ratePerSecond: number | null;
  /**
   * The most tokens that accumulate, and the number at the start. Without it, tokens are spread evenly over time: at
   * most a tenth of a second's worth accumulates, and at least one.
   */
  capacity?: number;
}

/** Limits a rate: tokens accumulate over time, and each use spends some. */
export class TokenBucket {
  #ratePerSecond: number | null;
  readonly #capacity: number | undefined;
  #tokens: number;
  #filledAt = performance.now();
  #timer: NodeJS.Timeout | undefined;

  constructor({ ratePerSecond, capacity }: TokenBucketOptions) {
    this.#ratePerSecond = ratePerSecond;
    this.#capacity = capacity;
    this.#tokens = capacity ?? 1;
  }

  /** Tokens saved under the old rate are kept. */
  setRate(ratePerSecond: number | null): void {
    this.#fill();
    this.#ratePerSecond = ratePerSecond;
  }

  /** Tokens that may be spent now. */
  available(): number {
    if (this.#ratePerSecond === null) return Infinity;
    this.#fill();
    return this.#tokens;
  }

  /** Spends tokens, at most as many as there are. */
  spend(count: number): void {
    this.#tokens = Math.max(0, this.#tokens - count);
  }

  /** Takes one token; if none is available, `ready` is called once one is. */
  take(ready: () => void): boolean {
    if (this.#ratePerSecond === null) return true;
    this.#fill();
    if (this.#tokens >= 1) {
      this.#tokens -= 1;
      return true;
    }
    const waitMs = ((1 - this.#tokens) / this.#ratePerSecond) * 1000;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      ready();
    }, waitMs);
    return false;
  }

  /** The number of tokens that accumulate within a period in milliseconds; at least one. */
  most(withinMs: number): number {
    return this.#ratePerSecond === null ? Infinity : Math.max(1, Math.round((this.#ratePerSecond * withinMs) / 1000));
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #fill(): void {
    const now = performance.now();
    const rate = this.#ratePerSecond ?? 0;
    const capacity = this.#capacity ?? Math.max(1, rate / 10);
    this.#tokens = Math.min(capacity, this.#tokens + ((now - this.#filledAt) / 1000) * rate);
    this.#filledAt = now;
  }
}
