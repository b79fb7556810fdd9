import { LRUCache } from 'lru-cache';
import { isConnectionRefused } from '@postroom/errors';
import { logger } from '@postroom/observability';

/**
 * PostgreSQL error classes unrelated to the work itself: a missing connection or resource, interference by another
 * transaction or an operator, or a schema version mismatch during an upgrade.
 */
const OUTAGE_CLASSES = new Set(['08', '25', '28', '3D', '40', '42', '53', '55', '57', '58']);

/** Prisma's equivalents: no connection, pool timeout, closed transaction, write conflict. */
const PRISMA_OUTAGES = /^(P1\d{3}|P2024|P2028|P2034|P2037)$/;

/** Messages of pg, without a code, about a missing connection. */
const NO_CONNECTION =
  /^(Connection terminated|timeout exceeded when trying to connect|Client (was closed|has encountered a connection error)|Cannot use a pool|Query read timeout|timeout expired)/;

/** Whether an error has a transient external cause, so that the same work may succeed later. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError && error.errors.some(isOutage)) return true;
  const { code = '', errno } = error as { code?: unknown; errno?: unknown };
  if (error.name === 'AbortError' || error.name === 'TimeoutError' || error.name === 'CancelledFailure') return true;
  if (typeof code === 'string') {
    if (/^[0-9A-Z]{5}$/.test(code) && 'severity' in error)
      return OUTAGE_CLASSES.has(code.slice(0, 2)) || isConnectionRefused(error);
    if (PRISMA_OUTAGES.test(code) || code.startsWith('UND_ERR') || code.startsWith('ERR_TLS')) return true;
    if (errno !== undefined || /^E[A-Z]+$/.test(code)) return true;
  }
  return NO_CONNECTION.test(error.message) || isConnectionRefused(error) || isOutage(error.cause);
}

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
