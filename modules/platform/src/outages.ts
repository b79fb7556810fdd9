import { logger } from './logger.ts';

/**
 * PostgreSQL's classes of errors that say nothing about the work at hand: a connection or a resource is missing, another
 * transaction or an operator was in the way, or the schema is of another version while one is installed.
 */
const OUTAGE_CLASSES = new Set(['08', '25', '28', '3D', '40', '42', '53', '55', '57', '58']);

/** Prisma's codes for the same: no connection, no free one, a transaction that was closed or lost a race. */
const PRISMA_OUTAGES = /^(P1\d{3}|P2024|P2028|P2034|P2037)$/;

/** What pg says, without a code, of a connection that is not there. */
const NO_CONNECTION =
  /^(Connection terminated|timeout exceeded when trying to connect|Client (was closed|has encountered a connection error)|Cannot use a pool|Query read timeout|timeout expired)/;

/** Whether an error comes from something that is away for a while, so that the same work may succeed later without a change. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError && error.errors.some(isOutage)) return true;
  const { code = '', errno } = error as { code?: unknown; errno?: unknown };
  if (error.name === 'AbortError' || error.name === 'TimeoutError' || error.name === 'CancelledFailure') return true;
  if (typeof code === 'string') {
    if (/^[0-9A-Z]{5}$/.test(code) && 'severity' in error) return OUTAGE_CLASSES.has(code.slice(0, 2));
    if (PRISMA_OUTAGES.test(code) || code.startsWith('UND_ERR') || code.startsWith('ERR_TLS')) return true;
    if (errno !== undefined || /^E[A-Z]+$/.test(code)) return true;
  }
  return NO_CONNECTION.test(error.message) || isOutage(error.cause);
}

/** An activity that fails so many times in a row, and not because of an outage, will fail for ever. */
const MAX_ERRORS_IN_ROW = 10;
const MAX_REMEMBERED = 10_000;
const failures = new Map<string, number>();

/**
 * Runs `work`, which something outside repeats when it throws. After ten failures in a row that are no outage, `giveUp` is
 * called with the reason and says how it ended, so that nothing is repeated for ever. This process counts; where several
 * processes share the work it takes a few more.
 * @param key what the failures are counted by: the work and what it is about.
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
    failures.delete(key);
    failures.set(key, count);
    for (const oldest of failures.keys()) if (failures.size > MAX_REMEMBERED) failures.delete(oldest);
    if (count < MAX_ERRORS_IN_ROW) throw error;
    logger.error({ err: error, key }, 'the same work failed again and again; it is given up');
    const result = await giveUp(error instanceof Error ? error.message : String(error));
    failures.delete(key);
    return result;
  }
}
