/**
 * How long a run claims messages. The next run starts only when nothing is in flight, which may take ten minutes if the server does not
 * reply to a message, so until then the run goes on with the others.
 */
export class RunTime {
  readonly #startedAt = performance.now();
  readonly #policy: { readonly runMs: number; readonly maxRunMs: number };
  #endsAt: number;

  /** @param policy for how long it claims, and for how long at most if it is extended, in milliseconds. */
  constructor(policy: { readonly runMs: number; readonly maxRunMs: number }) {
    this.#policy = policy;
    this.#endsAt = this.#startedAt + policy.runMs;
  }

  /** In the time of `performance.now`. */
  get endsAt(): number {
    return this.#endsAt;
  }

  /** @returns false if the run has already been extended for as long as it may be. */
  extend(): boolean {
    const now = performance.now();
    if (now > this.#startedAt + this.#policy.maxRunMs) return false;
    this.#endsAt = now + this.#policy.runMs;
    return true;
  }
}
