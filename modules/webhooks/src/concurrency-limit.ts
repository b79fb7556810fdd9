import { config, FairShare } from '@postroom/platform';
import type { DueDelivery } from './attempts.ts';

/** From so many failures in a row on, an endpoint counts as struggling: little is sent to it until it acknowledges again. */
export const STRUGGLING_AFTER = 10;

/** POSTs of this process under way to one endpoint at most, outside batches. */
const UNDER_WAY = 50;
const UNDER_WAY_STRUGGLING = 4;

const underWay = new Map<string, number>();
/** Each takes a slot of the worker for as long as its receiver takes. */
const slots = new FairShare(config.WORKER_WEBHOOK_SLOTS);

/**
 * Lets an attempt begin, or not: without it the retries of endpoints that hang, or of a project with many of them, would take
 * every slot of the worker.
 * @returns what to call when the attempt is over; `undefined` when it may not begin now.
 */
export function tryEnter({
  endpoint_id: id,
  project_id: projectId,
  failures_in_row: failures,
}: DueDelivery): (() => void) | undefined {
  const now = underWay.get(id) ?? 0;
  if (now >= (failures >= STRUGGLING_AFTER ? UNDER_WAY_STRUGGLING : UNDER_WAY)) return undefined;
  const release = slots.tryAcquire(projectId);
  if (release === undefined) return undefined;
  underWay.set(id, now + 1);
  return () => {
    release();
    const left = (underWay.get(id) ?? 1) - 1;
    if (left === 0) underWay.delete(id);
    else underWay.set(id, left);
  };
}
