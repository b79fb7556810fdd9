import { config, FairShare } from '@postroom/platform';
import type { DueDelivery } from './attempts.ts';
import { POLICY } from './policy.ts';

const inFlight = new Map<string, number>();
/** Each attempt occupies a worker slot for as long as its receiver takes. */
const slots = new FairShare(config.WORKER_WEBHOOK_SLOTS);

/**
 * Acquires a slot for an attempt. Without this limit, hanging endpoints or one project's many endpoints would occupy
 * every worker slot.
 * @returns a function that releases the slot; `undefined` if none is free.
 */
export function tryAcquire({
  endpoint_id: id,
  project_id: projectId,
  failures_in_row: failures,
}: DueDelivery): (() => void) | undefined {
  const current = inFlight.get(id) ?? 0;
  if (
    current >=
    (failures >= POLICY.endpoint.degradedAfter ? POLICY.endpoint.maxConcurrentDegraded : POLICY.endpoint.maxConcurrent)
  )
    return undefined;
  const release = slots.tryAcquire(projectId);
  if (release === undefined) return undefined;
  inFlight.set(id, current + 1);
  return () => {
    release();
    const remaining = (inFlight.get(id) ?? 1) - 1;
    if (remaining === 0) inFlight.delete(id);
    else inFlight.set(id, remaining);
  };
}
