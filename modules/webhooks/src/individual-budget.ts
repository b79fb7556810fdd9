import { databaseNow } from '@postroom/clock';
import { POLICY } from './policy.ts';

const { initialPerSecond, minPerSecond, maxPerSecond, maxWaitMs, calmWaitMs, growth, shrinkage } = POLICY.individual;

/**
 * How many deliveries may get their own workflow now: as many as Temporal starts within two seconds. It learns the rate from how
 * long deliveries wait between their claim and their attempt. Every delivery spends the budget, so a sustained burst leaves none.
 * Times are Unix milliseconds.
 */
export class IndividualBudget {
  #perSecond: number = initialPerSecond;
  #tokens: number = this.#capacity;
  #filledAt: number;
  /** Deliveries whose workflow has been started and whose attempt has not begun in this process, oldest first. */
  readonly #claimed = new Map<string, number>();
  #begun = 0;
  #longestWaitMs = 0;

  constructor(now: number) {
    this.#filledAt = now;
  }

  get perSecond(): number {
    return this.#perSecond;
  }

  /** With `isAlways`, whatever keeps the wait below two seconds; otherwise also what a sustained burst has left. */
  available(now: number, { isAlways = false } = {}): number {
    const room = this.#capacity - this.#claimed.size;
    if (isAlways) return Math.max(0, Math.floor(room));
    this.#fill(now);
    return Math.max(0, Math.floor(Math.min(this.#tokens, room)));
  }

  /** Spends what was claimed, whether individually or in batches. */
  spend(count: number, now: number): void {
    this.#fill(now);
    this.#tokens = Math.max(-this.#capacity, this.#tokens - count);
  }

  /** Deliveries were claimed, and a workflow is started for each. */
  recordClaimed(ids: readonly string[], now: number): void {
    for (const id of ids) this.#claimed.set(id, now);
  }

  /** The first attempt of a delivery begins. */
  recordBegun(id: string, now: number): void {
    const claimedAt = this.#claimed.get(id);
    if (claimedAt === undefined) return;
    this.#claimed.delete(id);
    this.#begun++;
    this.#longestWaitMs = Math.max(this.#longestWaitMs, now - claimedAt);
  }

  /** Those that have waited for longer than `ms`. */
  waitingLongerThan(ms: number, now: number): string[] {
    return [...this.#claimed].filter(([, claimedAt]) => now - claimedAt > ms).map(([id]) => id);
  }

  /** Forgets deliveries whose attempt began in another process. */
  forget(ids: readonly string[]): void {
    for (const id of ids) this.#claimed.delete(id);
  }

  /** Adapts the rate to what was observed since the last call: fewer if a delivery waited too long, more if all began soon. */
  adapt(now: number): void {
    const [oldest = now] = this.#claimed.values();
    const waitMs = Math.max(this.#longestWaitMs, now - oldest);
    this.#fill(now);
    if (waitMs > maxWaitMs) this.#perSecond = Math.max(minPerSecond, this.#perSecond * shrinkage);
    else if (waitMs < calmWaitMs && this.#begun >= this.#perSecond / 2)
      this.#perSecond = Math.min(maxPerSecond, this.#perSecond * growth);
    this.#begun = 0;
    this.#longestWaitMs = 0;
  }

  get #capacity(): number {
    return (this.#perSecond * maxWaitMs) / 1000;
  }

  #fill(now: number): void {
    const earned = ((now - this.#filledAt) / 1000) * this.#perSecond;
    this.#tokens = Math.min(this.#capacity, this.#tokens + earned);
    this.#filledAt = now;
  }
}

/** The budget of this process's dispatcher. It affects only fairness and latency, never correctness. */
export const individualBudget = new IndividualBudget(databaseNow());
