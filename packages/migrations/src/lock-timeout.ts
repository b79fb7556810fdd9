/**
 * A statement that waits for a table's lock makes every later query of that table wait behind it. A migration therefore
 * gives up after this time, in milliseconds, lets them pass, and tries again after each of these delays.
 */
export const LOCK_TIMEOUT_MS = 2_000;
export const LOCK_RETRY_DELAYS_MS = Array.from({ length: 60 }, (_, attempt) => Math.min(5_000, 250 * 2 ** attempt));
