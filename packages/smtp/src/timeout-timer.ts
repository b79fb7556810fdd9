export interface Timed {
  /** When it expires, in the timer's time (milliseconds). */
  readonly deadline: number;
  expire(): void;
}

/**
 * One interval timer shared by all connections of a pool, so setting a deadline is a plain assignment. Deadlines fire up to
 * one tick late. It runs only while something is watched and never keeps the process alive.
 */
export class TimeoutTimer {
  /** Current time as of the last tick, in milliseconds. */
  now = performance.now();
  readonly #watched = new Set<Timed>();
  readonly #tickMs: number;
  readonly #onTick: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** @param shortestMs the shortest timeout that will be used */
  constructor(shortestMs: number, onTick: () => void) {
    this.#tickMs = Math.min(1000, Math.max(5, shortestMs / 4));
    this.#onTick = onTick;
  }

  watch(entry: Timed): void {
    this.#watched.add(entry);
    if (this.#timer) return;
    this.now = performance.now();
    this.#timer = setInterval(() => this.#tick(), this.#tickMs).unref();
  }

  unwatch(entry: Timed): void {
    this.#watched.delete(entry);
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    this.now = performance.now();
    for (const entry of this.#watched) if (entry.deadline <= this.now) entry.expire();
    this.#onTick();
  }
}
