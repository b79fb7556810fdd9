import { setTimeout } from 'node:timers/promises';

/**
 * What `run` yields, for as long as somebody reads it: the value of a subscription. A generator that waits for a change can
 * not be ended from outside before it yields again, so a reader who leaves would leave it waiting for ever. Here `left` is
 * aborted then; `run` looks at it in its loop and waits with `pause`.
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
