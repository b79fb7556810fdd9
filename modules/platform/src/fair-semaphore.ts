import { RateLimited } from './errors.ts';

export interface FairSemaphoreOptions {
  /** How much may be at work at once. */
  total: number;
  /** How much of it for one key, such as a project. */
  perKey: number;
  /** How much may wait for one key; more is refused. */
  waitingPerKey?: number;
}

interface Line {
  running: number;
  waiting: (() => void)[];
}

/**
 * Bounds what is done at once, in all and for each key. Whoever finds no room waits, and the keys that wait take turns: a
 * key for which a thousand wait delays another by one turn, not by a thousand.
 */
export class FairSemaphore {
  readonly #options: Required<FairSemaphoreOptions>;
  /** The keys for which something runs or waits; those served last come last. */
  readonly #lines = new Map<string, Line>();
  #running = 0;

  constructor({ total, perKey, waitingPerKey = Infinity }: FairSemaphoreOptions) {
    this.#options = { total, perKey, waitingPerKey };
  }

  /**
   * Does the work when there is room for it. Work must not wait for more of the same semaphore.
   * @throws RateLimited when too much waits for the key.
   */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const release = this.tryAcquire(key) ?? (await this.#acquire(key));
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** What releases the room that was taken; `undefined` when there is none now. */
  tryAcquire(key: string): (() => void) | undefined {
    const line = this.#lines.get(key) ?? { running: 0, waiting: [] };
    if (!this.#hasRoom(line)) return undefined;
    this.#start(key, line);
    return this.#releaseOnce(key, line);
  }

  async #acquire(key: string): Promise<() => void> {
    const line = this.#lines.get(key) ?? { running: 0, waiting: [] };
    if (line.waiting.length >= this.#options.waitingPerKey)
      throw new RateLimited('Too many expensive requests of this project are waiting. Try again later.', 1);
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
