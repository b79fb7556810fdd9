/** Spreads messages evenly over time: at a rate of ten a second one goes every 100 ms. */
export class TokenBucket {
  #ratePerSecond: number | null = null;
  /** Messages that may go now; below zero never. */
  #tokens = 1;
  #filledAt = performance.now();
  #timer: NodeJS.Timeout | undefined;

  /** Messages per second; null for no limit. What has been saved up under the old rate is kept. */
  setRate(ratePerSecond: number | null): void {
    this.#fill();
    this.#ratePerSecond = ratePerSecond;
  }

  /** Takes one message's turn; when it is not yet time, `ready` is called once it is. */
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

  /** How many messages may go within so many milliseconds; at least one. */
  most(withinMs: number): number {
    return this.#ratePerSecond === null ? Infinity : Math.max(1, Math.round((this.#ratePerSecond * withinMs) / 1000));
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** A tenth of a second's worth may be saved up, and never less than one message. */
  #fill(): void {
    const now = performance.now();
    const rate = this.#ratePerSecond ?? 0;
    this.#tokens = Math.min(Math.max(1, rate / 10), this.#tokens + ((now - this.#filledAt) / 1000) * rate);
    this.#filledAt = now;
  }
}
