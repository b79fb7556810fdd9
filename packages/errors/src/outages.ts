import { isConnectionRefused } from './errors.ts';

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
