import { LRUCache } from 'lru-cache';
import { isOutage } from '@postroom/errors';
import { logger } from '@postroom/observability';

/** An activity that fails this many times in a row without an outage is assumed to fail forever. */
const MAX_ERRORS_IN_ROW = 10;
const failures = new LRUCache<string, number>({ max: 10_000 });

/**
 * Runs `work`, which its caller retries when it throws. After ten consecutive failures that are no outage, calls
 * `giveUp` with the reason, so that nothing is retried forever. Failures are counted per process, so several
 * processes take a few more.
 * @param key what failures are counted by: the work and its subject
 */
export async function stopAfterRepeatedErrors<Result>(
  key: string,
  work: () => Promise<Result>,
  giveUp: (reason: string) => Promise<Result>,
): Promise<Result> {
  try {
    const result = await work();
    failures.delete(key);
    return result;
  } catch (error) {
    if (isOutage(error) || (error instanceof Error && error.name === 'ApplicationFailure')) throw error;
    const count = (failures.get(key) ?? 0) + 1;
    failures.set(key, count);
    if (count < MAX_ERRORS_IN_ROW) throw error;
    logger.error({ err: error, key }, 'work failed repeatedly; giving up');
    const result = await giveUp(error instanceof Error ? error.message : String(error));
    failures.delete(key);
    return result;
  }
}
