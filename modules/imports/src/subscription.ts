import { listen, subscription, sleep } from '@postroom/platform';
import { getImport, type Import, isFinal } from './imports.ts';

/** An import may change many times per second; subscribers get updates at most at this interval, in milliseconds. */
const THROTTLE_MS = 200;

/**
 * The current import, then an update whenever it has made progress, until it has ended. Missed notifications are
 * covered by the next state.
 * @throws DomainError `not_found`.
 */
export function watchImport(projectId: string, id: string): AsyncIterableIterator<Import> {
  return subscription((left) => statesOf(projectId, id, left));
}

async function* statesOf(projectId: string, id: string, left: AbortSignal): AsyncGenerator<Import, void> {
  let isNews = true;
  const stopListening = await listen(`import ${id}`, () => (isNews = true));
  try {
    while (!left.aborted) {
      if (isNews) {
        isNews = false;
        const state = await getImport(projectId, id);
        yield state;
        if (isFinal(state.status)) return;
      }
      await sleep(THROTTLE_MS, left);
    }
  } finally {
    await stopListening();
  }
}
