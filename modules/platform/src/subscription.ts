import { setTimeout } from 'node:timers/promises';

/**
 * Wraps `run` as the value of a subscription. A generator waiting for a change can't be ended from outside before
 * it yields again, so an unsubscribed client would leave it waiting forever. Instead the signal is aborted; `run`
 * checks it in its loop and waits with `sleep`.
 */
export function subscription<T>(run: (left: AbortSignal) => AsyncGenerator<T, void>): AsyncIterableIterator<T> {
  const left = new AbortController();
  const values = run(left.signal);
  return {
    next: () => values.next(),
    return: () => {
      left.abort();
      return values.return();
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Waits for a time in milliseconds, or until `left`. */
export async function sleep(timeMs: number, left: AbortSignal): Promise<void> {
  await setTimeout(timeMs, undefined, { signal: left }).catch(() => {});
}
