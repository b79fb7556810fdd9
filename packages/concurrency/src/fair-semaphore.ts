import { RateLimited } from '@postroom/errors';

export interface FairSemaphoreOptions {
  /** Maximum concurrent work in total. */
  total: number;
  /** Maximum concurrent work per key, such as a project. */
  perKey: number;
  /** Maximum concurrent work per key while others have work or had some in the last two seconds; `perKey` by default. */
  perKeyShared?: number;
  /** Maximum waiters per key; more are rejected. */
  waitingPerKey?: number;
  /** Called with the duration of work in milliseconds. The slot stays taken until it resolves; the work's result does not wait for it. */
  pace?: (tookMs: number) => Promise<void>;
}

/** How long after its last work a key counts as active. */
const ACTIVE_MS = 2_000;

interface Line {
  running: number;
  waiting: (() => void)[];
}

/**
 * Limits concurrency in total and per key. Waiting keys take turns, so a key with a thousand waiters delays another
 * by one slot, not by a thousand.
 */
export class FairSemaphore {
  readonly #options: Required<Omit<FairSemaphoreOptions, 'pace'>>;
  readonly #pace: FairSemaphoreOptions['pace'];
  /** Keys with running or waiting work, least recently served first. */
  readonly #lines = new Map<string, Line>();
  #running = 0;
  /** The key that started work last, and when any other key last did, in milliseconds since the epoch. */
  #latestKey: string | undefined;
  #latestAt = 0;
  #otherAt = 0;

  constructor({ total, perKey, perKeyShared = perKey, waitingPerKey = Infinity, pace }: FairSemaphoreOptions) {
    this.#options = { total, perKey, perKeyShared, waitingPerKey };
    this.#pace = pace;
  }

  /**
   * Runs work once a slot is free. Work must not wait for the same semaphore: it would deadlock.
   * @throws RateLimited if too many already wait for the key.
   */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const release = this.tryAcquire(key) ?? (await this.#acquire(key));
    const began = performance.now();
    try {
      return await work();
    } finally {
      if (this.#pace === undefined) release();
      else void this.#pace(performance.now() - began).finally(release);
    }
  }

  /** Returns the slot's release function; `undefined` if no slot is free. */
  tryAcquire(key: string): (() => void) | undefined {
    const line = this.#lines.get(key) ?? { running: 0, waiting: [] };
    if (!this.#hasRoom(key, line)) return undefined;
    this.#start(key, line);
    return this.#releaseOnce(key, line);
  }

  async #acquire(key: string): Promise<() => void> {
    const line = this.#lines.get(key) ?? { running: 0, waiting: [] };
    if (line.waiting.length >= this.#options.waitingPerKey)
      throw new RateLimited('Too many expensive requests for this project are queued. Try again later.', 1);
    this.#lines.set(key, line);
    await new Promise<void>((resolve) => line.waiting.push(resolve));
    return this.#releaseOnce(key, line);
  }

  #releaseOnce(key: string, line: Line): () => void {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#running--;
      line.running--;
      if (line.running === 0 && line.waiting.length === 0) this.#lines.delete(key);
      this.#startNext();
    };
  }

  #startNext(): void {
    for (const [key, line] of this.#lines) {
      if (this.#running >= this.#options.total) return;
      if (line.waiting.length === 0 || !this.#hasRoom(key, line)) continue;
      const resolve = line.waiting.shift();
      this.#start(key, line);
      resolve?.();
    }
  }

  #hasRoom(key: string, { running }: Line): boolean {
    const { total, perKey, perKeyShared } = this.#options;
    return this.#running < total && running < (this.#isShared(key) ? perKeyShared : perKey);
  }

  #isShared(key: string): boolean {
    if (this.#lines.size > (this.#lines.has(key) ? 1 : 0)) return true;
    const otherAt = key === this.#latestKey ? this.#otherAt : this.#latestAt;
    return Date.now() - otherAt < ACTIVE_MS;
  }

  #start(key: string, line: Line): void {
    this.#running++;
    line.running++;
    this.#lines.delete(key);
    this.#lines.set(key, line);
    if (key !== this.#latestKey) this.#otherAt = this.#latestAt;
    this.#latestKey = key;
    this.#latestAt = Date.now();
  }
}
