import { setTimeout as delay } from 'node:timers/promises';

/**
 * Wraps `run` as the value of a subscription. A generator waiting for a change can't be ended from outside before
 * it yields again, so an unsubscribed client would leave it waiting forever. Instead the signal is aborted, which
 * ends `wait` and `sleep`.
 */
export function subscription<T>(run: (signal: AbortSignal) => AsyncGenerator<T, void>): AsyncIterableIterator<T> {
  const controller = new AbortController();
  const values = run(controller.signal);
  return {
    next: () => values.next(),
    return: () => {
      controller.abort();
      return values.return();
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Wakes a loop. A notification that finds no waiter ends the next wait at once; several count as one. */
export class Notifier {
  #isNotified = false;
  #wake = () => {};

  notify(): void {
    this.#isNotified = true;
    this.#wake();
  }

  /** Discards a notification that has not ended a wait yet. */
  clear(): void {
    this.#isNotified = false;
  }

  /** Waits for a notification, at most `timeoutMs` milliseconds, or until `signal` is aborted. */
  async wait({
    timeoutMs,
    signal,
  }: { timeoutMs?: number | undefined; signal?: AbortSignal | undefined } = {}): Promise<void> {
    if (!this.#isNotified && signal?.aborted !== true) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (timeoutMs !== undefined) timer = setTimeout(resolve, timeoutMs);
        signal?.addEventListener('abort', this.#wake);
      });
      clearTimeout(timer);
      signal?.removeEventListener('abort', this.#wake);
      this.#wake = () => {};
    }
    this.#isNotified = false;
  }
}

/** Waits for a time in milliseconds, or until `signal` is aborted. */
export async function sleep(timeMs: number, signal?: AbortSignal): Promise<void> {
  await delay(timeMs, undefined, { signal }).catch(() => {});
}
