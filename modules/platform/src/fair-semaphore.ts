import { RateLimited } from './errors.ts';

export interface FairSemaphoreOptions {
  /** Maximum concurrent work in total. */
  total: number;
  /** Maximum concurrent work per key, such as a project. */
  perKey: number;
  /** Maximum waiters per key; more are rejected. */
  waitingPerKey?: number;
}

interface Line {
  running: number;
  waiting: (() => void)[];
}

/**
 * Limits concurrency in total and per key. Waiting keys take turns, so a key with a thousand waiters delays another
 * by one slot, not by a thousand.
 */
export class FairSemaphore {
  readonly #options: Required<FairSemaphoreOptions>;
  /** Keys with running or waiting work, least recently served first. */
  readonly #lines = new Map<string, Line>();
  #running = 0;

  constructor({ total, perKey, waitingPerKey = Infinity }: FairSemaphoreOptions) {
    this.#options = { total, perKey, waitingPerKey };
  }

  /**
   * Runs work once a slot is free. Work must not wait for the same semaphore: it would deadlock.
   * @throws RateLimited if too many already wait for the key.
   */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const release = this.tryAcquire(key) ?? (await this.#acquire(key));
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Returns the slot's release function; `undefined` if no slot is free. */
  tryAcquire(key: string): (() => void) | undefined {
    const line = this.#lines.get(key) ?? { running: 0, waiting: [] };
    if (!this.#hasRoom(line)) return undefined;
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
      if (line.waiting.length === 0 || !this.#hasRoom(line)) continue;
      const resolve = line.waiting.shift();
      this.#start(key, line);
      resolve?.();
    }
  }

  #hasRoom({ running }: Line): boolean {
    return this.#running < this.#options.total && running < this.#options.perKey;
  }

  #start(key: string, line: Line): void {
    this.#running++;
    line.running++;
    this.#lines.delete(key);
    this.#lines.set(key, line);
  }
}
