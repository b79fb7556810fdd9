export interface Timed {
  /** When it expires, in the clock's time. */
  readonly deadline: number;
  expire(): void;
}

/**
 * One timer for all connections of a lane: a message sets a deadline, which costs a number, and no timer. Deadlines are
 * late by up to one tick. It runs only while something is watched, and keeps no process alive.
 */
export class TimeoutTimer {
  /** Milliseconds, as of the last tick. */
  now = performance.now();
  readonly #watched = new Set<Timed>();
  readonly #tickMs: number;
  readonly #onTick: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** @param shortestMs the shortest time that will be asked for */
  constructor(shortestMs: number, onTick: () => void) {
    this.#tickMs = Math.min(1000, Math.max(5, shortestMs / 4));
    this.#onTick = onTick;
  }

  watch(one: Timed): void {
    this.#watched.add(one);
    if (this.#timer) return;
    this.now = performance.now();
    this.#timer = setInterval(() => this.#tick(), this.#tickMs).unref();
  }

  unwatch(one: Timed): void {
    this.#watched.delete(one);
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    this.now = performance.now();
    for (const one of this.#watched) if (one.deadline <= this.now) one.expire();
    this.#onTick();
  }
}
