import { config, FairShare } from '@postroom/platform';
import type { DueDelivery } from './attempts.ts';

/** From so many failures in a row on, an endpoint counts as struggling: little is sent to it until it acknowledges again. */
export const DEGRADED_AFTER = 10;

/** POSTs of this process under way to one endpoint at most, outside batches. */
const MAX_IN_FLIGHT = 50;
const MAX_IN_FLIGHT_DEGRADED = 4;

const inFlight = new Map<string, number>();
/** Each takes a slot of the worker for as long as its receiver takes. */
const slots = new FairShare(config.WORKER_WEBHOOK_SLOTS);

/**
 * Lets an attempt begin, or not: without it the retries of endpoints that hang, or of a project with many of them, would take
 * every slot of the worker.
 * @returns what to call when the attempt is over; `undefined` when it may not begin now.
 */
export function tryAcquire({
  endpoint_id: id,
  project_id: projectId,
  failures_in_row: failures,
}: DueDelivery): (() => void) | undefined {
  const now = inFlight.get(id) ?? 0;
  if (now >= (failures >= DEGRADED_AFTER ? MAX_IN_FLIGHT_DEGRADED : MAX_IN_FLIGHT)) return undefined;
  const release = slots.tryAcquire(projectId);
  if (release === undefined) return undefined;
  inFlight.set(id, now + 1);
  return () => {
    release();
    const left = (inFlight.get(id) ?? 1) - 1;
    if (left === 0) inFlight.delete(id);
    else inFlight.set(id, left);
  };
}
