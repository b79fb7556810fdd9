import { RateLimited } from '@postroom/errors';
import { LRUCache } from 'lru-cache';

export interface FairSemaphoreOptions {
  /** Maximum concurrent work in total. */
  total: number;
  /** Maximum concurrent work per key, such as a project. */
  perKey: number;
  /** Maximum concurrent work per key while it shares the semaphore with others; `perKey` by default. */
  perKeyShared?: number;
  /** Whether a key shares the semaphore: by default, while others have work in it or had some in the last two seconds. */
  isShared?: (key: string) => boolean;
  /**
   * A key is light if none of its work waits, and it has lately kept fewer slots busy than this, on average. While it shares the
   * semaphore, it may have twice `perKeyShared`, and it is not paced. No key is by default.
   */
  lightBelow?: number;
  /** Maximum waiters per key; more are rejected. */
  waitingPerKey?: number;
  /**
   * Called with the key and the duration of its work in milliseconds. The slot stays taken until it resolves; the work's result does
   * not wait for it.
   */
  pace?: (key: string, tookMs: number) => Promise<void>;
}

/** How long after its last work a key counts as active. */
const ACTIVE_MS = 2_000;
/** The half-life of the time that a key kept slots busy. */
const HALF_LIFE_MS = 2_000;
/** The most keys whose use is remembered. */
const MAX_KEYS = 10_000;

interface Line {
  /** Slots that are taken. */
  running: number;
  waiting: { slots: number; start: () => void }[];
}

/**
 * Limits concurrency in total and per key. Waiting keys take turns, so a key with a thousand waiters delays another
 * by one slot, not by a thousand.
 */
export class FairSemaphore {
  readonly #options: Required<Omit<FairSemaphoreOptions, 'pace' | 'isShared'>>;
  readonly #isShared: (key: string) => boolean;
  readonly #pace: FairSemaphoreOptions['pace'];
  /** Keys with running or waiting work, least recently served first. */
  readonly #lines = new Map<string, Line>();
  #running = 0;
  /**
   * How long keys kept slots busy, as of a time, in milliseconds. Undefined if no key is light: it allocates for all of its keys at
   * once, and there is a semaphore per request.
   */
  readonly #used: LRUCache<string, { busyMs: number; at: number }> | undefined;
  /** The key that started work last, and when any other key last did, on the clock of `performance.now()`. */
  #latestKey: string | undefined;
  #latestAt = -Infinity;
  #otherAt = -Infinity;

  constructor(options: FairSemaphoreOptions) {
    const { total, perKey, perKeyShared = perKey, lightBelow = 0, waitingPerKey = Infinity } = options;
    this.#options = { total, perKey, perKeyShared, lightBelow, waitingPerKey };
    if (lightBelow > 0) this.#used = new LRUCache({ max: MAX_KEYS });
    this.#isShared = options.isShared ?? ((key) => this.#hasOthers(key));
    this.#pace = options.pace;
  }

  /**
   * Runs work once there is room. Work must not wait for the same semaphore: it would deadlock.
   * @param slots how many it takes: a fraction if it needs less than other work.
   * @throws RateLimited if too many already wait for the key.
   */
  async run<T>(key: string, work: () => Promise<T>, slots = 1): Promise<T> {
    const release = this.tryAcquire(key, slots) ?? (await this.#acquire(key, slots));
    const began = performance.now();
    try {
      return await work();
    } finally {
      const tookMs = performance.now() - began;
      this.#used?.set(key, { busyMs: this.#busyMs(key) + tookMs * slots, at: performance.now() });
      if (this.#pace === undefined || this.#isLight(key)) release();
      else void this.#pace(key, tookMs).finally(release);
    }
  }

  /** Returns the function that releases the slots; `undefined` if there is no room. */
  tryAcquire(key: string, slots = 1): (() => void) | undefined {
    const line = this.#lines.get(key) ?? { running: 0, waiting: [] };
    // Those that need few slots must not overtake one that needs many.
    if (line.waiting.length > 0 || !this.#hasRoom(key, line, slots)) return undefined;
    this.#start(key, line, slots);
    return this.#releaseOnce(key, line, slots);
  }

  async #acquire(key: string, slots: number): Promise<() => void> {
    const line = this.#lines.get(key) ?? { running: 0, waiting: [] };
    if (line.waiting.length >= this.#options.waitingPerKey)
      throw new RateLimited('Too many expensive requests for this project are queued. Try again later.', 1);
    this.#lines.set(key, line);
    const started = new Promise<void>((start) => line.waiting.push({ slots, start }));
    this.#startNext();
    await started;
    return this.#releaseOnce(key, line, slots);
  }

  #releaseOnce(key: string, line: Line, slots: number): () => void {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#running -= slots;
      line.running -= slots;
      if (line.running === 0 && line.waiting.length === 0) this.#lines.delete(key);
      this.#startNext();
    };
  }

  #startNext(): void {
    for (const [key, line] of this.#lines) {
      if (this.#running >= this.#options.total) return;
      const [next] = line.waiting;
      if (next === undefined || !this.#hasRoom(key, line, next.slots)) continue;
      line.waiting.shift();
      this.#start(key, line, next.slots);
      next.start();
    }
  }

  #hasRoom(key: string, { running }: Line, slots: number): boolean {
    const { total, perKey, perKeyShared } = this.#options;
    const taken = running + slots;
    if (this.#running + slots > total || taken > perKey) return false;
    return taken <= perKeyShared || !this.#isShared(key) || (taken <= 2 * perKeyShared && this.#isLight(key));
  }

  #isLight(key: string): boolean {
    const maxMs = (this.#options.lightBelow * HALF_LIFE_MS) / Math.LN2;
    return this.#busyMs(key) < maxMs && (this.#lines.get(key)?.waiting.length ?? 0) === 0;
  }

  #busyMs(key: string): number {
    const used = this.#used?.get(key);
    return used === undefined ? 0 : used.busyMs * 2 ** ((used.at - performance.now()) / HALF_LIFE_MS);
  }

  #hasOthers(key: string): boolean {
    if (this.#lines.size > (this.#lines.has(key) ? 1 : 0)) return true;
    const otherAt = key === this.#latestKey ? this.#otherAt : this.#latestAt;
    return performance.now() - otherAt < ACTIVE_MS;
  }

  #start(key: string, line: Line, slots: number): void {
    this.#running += slots;
    line.running += slots;
    this.#lines.delete(key);
    this.#lines.set(key, line);
    if (key !== this.#latestKey) this.#otherAt = this.#latestAt;
    this.#latestKey = key;
    this.#latestAt = performance.now();
  }
}
