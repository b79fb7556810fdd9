import { setTimeout } from 'node:timers/promises';

/**
 * Wraps `run` as the value of a subscription. A generator waiting for a change can't be ended from outside before
 * it yields again, so an unsubscribed client would leave it waiting forever. Instead the signal is aborted; `run`
 * checks it in its loop and waits with `sleep`.
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

/** Waits for a time in milliseconds, or until `signal` is aborted. */
export async function sleep(timeMs: number, signal: AbortSignal): Promise<void> {
  await setTimeout(timeMs, undefined, { signal }).catch(() => {});
}
