import { subscribe, subscription } from '@postroom/platform';
import { getImport, type Import, isFinal } from './imports.ts';

/** An import may change many times per second; subscribers get updates at most at this interval, in milliseconds. */
const THROTTLE_MS = 200;

/**
 * The current import, then an update whenever it has made progress, until it has ended.
 * @throws DomainError `not_found`.
 */
export function watchImport(projectId: string, id: string): AsyncIterableIterator<Import> {
  return subscription(async function* (signal) {
    for await (const _ of subscribe(`import ${id}`, signal, { minIntervalMs: THROTTLE_MS })) {
      const state = await getImport(projectId, id);
      yield state;
      if (isFinal(state.status)) return;
    }
  });
}
