/** Spreads messages evenly over time: at ten per second, one every 100 ms. */
export class TokenBucket {
  #ratePerSecond: number | null = null;
  /** Available tokens; never negative. */
  #tokens = 1;
  #filledAt = performance.now();
  #timer: NodeJS.Timeout | undefined;

  /** Messages per second; null for no limit. Tokens saved under the old rate are kept. */
  setRate(ratePerSecond: number | null): void {
    this.#fill();
    this.#ratePerSecond = ratePerSecond;
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

  /** The number of messages allowed within a period in milliseconds; at least one. */
  most(withinMs: number): number {
    return this.#ratePerSecond === null ? Infinity : Math.max(1, Math.round((this.#ratePerSecond * withinMs) / 1000));
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** The burst: a tenth of a second's worth, and at least one message. */
  #fill(): void {
    const now = performance.now();
    const rate = this.#ratePerSecond ?? 0;
    this.#tokens = Math.min(Math.max(1, rate / 10), this.#tokens + ((now - this.#filledAt) / 1000) * rate);
    this.#filledAt = now;
  }
}
