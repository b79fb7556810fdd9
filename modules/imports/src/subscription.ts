import { watchUntilFinal } from '@postroom/platform';
import { getImport, type Import, isFinal, topicOf } from './imports.ts';

/** An import may change many times per second; subscribers get updates at most at this interval, in milliseconds. */
const THROTTLE_MS = 200;

/**
 * The current import, then an update whenever it has made progress, until it has ended.
 * @throws DomainError `not_found`.
 */
export function watchImport(projectId: string, id: string): AsyncIterableIterator<Import> {
  return watchUntilFinal(topicOf(id), {
    read: () => getImport(projectId, id),
    isFinal: ({ status }) => isFinal(status),
    minIntervalMs: THROTTLE_MS,
  });
}
