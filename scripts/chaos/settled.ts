import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { progress } from '../demo/print.ts';

/** Work lost in a kill resumes within a minute, so three without any change mean that it is stuck. */
export const STALL_TIMEOUT_MS = 180_000;

/**
 * Returns a function that reports whether nothing has changed for too long. The time counts from when the next awaited step is
 * due, in milliseconds from now: a retry may be five minutes away.
 */
export function nothingMoves(): (what: string, awaitedMs?: number, now?: number) => boolean {
  let last = { what: '', at: 0 };
  return (what, awaitedMs = 0, now = Date.now()) => {
    if (what !== last.what || awaitedMs > 0) last = { what, at: now + awaitedMs };
    return now - last.at > STALL_TIMEOUT_MS;
  };
}

/** Waits until no messages, deliveries to the endpoints or workflow starts are open, or until progress stops. */
export async function settled(pool: pg.Pool, endpointIds: readonly string[], received: () => number): Promise<void> {
  const stuck = nothingMoves();
  for (;;) {
    const { rows } = await pool.query<{ messages: number; deliveries: number; outbox: number; awaited_ms: number }>(
      `SELECT (SELECT count(*)::int FROM messages WHERE state IN ('planned', 'claimed')) AS messages,
         (SELECT count(*)::int FROM deliveries WHERE closed_at IS NULL AND endpoint_id = ANY ($1)) AS deliveries,
         (SELECT count(*)::int FROM outbox WHERE available_at <= now()) AS outbox,
         (SELECT greatest(0, coalesce(extract(epoch FROM min(next_attempt_at) - now()) * 1000, 0))::float
          FROM deliveries WHERE closed_at IS NULL AND endpoint_id = ANY ($1)) AS awaited_ms`,
      [endpointIds],
    );
    const [open = { messages: 0, deliveries: 0, outbox: 0, awaited_ms: 0 }] = rows;
    if (open.messages + open.deliveries + open.outbox === 0) return;
    const what = `${open.messages} messages, ${open.deliveries} deliveries, ${open.outbox} starts are open`;
    progress(what);
    if (stuck(`${what} ${received()}`, open.awaited_ms)) return;
    await sleep(500);
  }
}

/** Waits until nothing is in flight: open rows wait in the table, or for the time of their next attempt. */
export async function settledOrWaiting(
  pool: pg.Pool,
  endpointIds: readonly string[],
  received: () => number,
): Promise<void> {
  const stuck = nothingMoves();
  for (;;) {
    const { rows } = await pool.query<{ open: number }>(
      `SELECT count(*)::int AS open FROM deliveries d JOIN webhook_endpoints w ON w.id = d.endpoint_id
       WHERE d.closed_at IS NULL AND w.id = ANY ($1)
         AND d.next_attempt_at <= now() AND (d.dispatched_at IS NOT NULL OR w.failures_in_row = 0)`,
      [endpointIds],
    );
    const open = rows[0]?.open ?? 0;
    if (open === 0) return;
    progress(`${open} deliveries are in flight`);
    if (stuck(`${open} ${received()}`)) return;
    await sleep(500);
  }
}
