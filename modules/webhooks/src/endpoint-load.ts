import type { EndpointQueue } from './plan.ts';
import type { Claimed, WaitingRow } from './queue.ts';

/** So long after an endpoint was seen to acknowledge it counts as flowing. */
const HEALTHY_MS = 10_000;

/** What a relay saw of an endpoint in its last round. */
interface EndpointLoad {
  attempting: number;
  flowedAt: number;
  servedAt: number;
  at: number;
}

const endpoints = new Map<string, EndpointLoad>();

/**
 * An endpoint as the plan wants it. Whether it acknowledges shows from round to round: what was in hand comes back, and it
 * counts no failure.
 */
export function toEndpointQueue(row: WaitingRow): EndpointQueue {
  const now = Date.now();
  const before = loadOf(row.endpoint_id);
  const cameBack = row.failures_in_row === 0 && row.attempting < before.attempting;
  const flowedAt = row.failures_in_row > 0 ? 0 : cameBack ? now : before.flowedAt;
  endpoints.set(row.endpoint_id, { ...before, attempting: row.attempting, flowedAt, at: now });
  return {
    endpointId: row.endpoint_id,
    projectId: row.project_id,
    projectInHand: row.project_in_hand,
    waiting: row.waiting,
    failuresInRow: row.failures_in_row,
    isFlowing: now - flowedAt < HEALTHY_MS,
    attempting: row.attempting,
    retrying: row.retrying,
    servedAt: before.servedAt,
  };
}

/** Counts what has just been taken into what is in hand. */
export function recordDispatched(claimed: readonly Claimed[]): void {
  const counts = new Map<string, number>();
  for (const { endpoint_id: id } of claimed) counts.set(id, (counts.get(id) ?? 0) + 1);
  for (const [id, count] of counts) {
    const before = loadOf(id);
    endpoints.set(id, { ...before, attempting: before.attempting + count, servedAt: Date.now() });
  }
}

/** Drops endpoints for which nothing has waited for a while. */
export function forgetIdleEndpoints(): void {
  for (const [id, { at }] of endpoints) if (Date.now() - at > HEALTHY_MS) endpoints.delete(id);
}

const loadOf = (id: string): EndpointLoad =>
  endpoints.get(id) ?? { attempting: 0, flowedAt: 0, servedAt: 0, at: Date.now() };
