import { config, FairShare, SharedSlots } from '@postroom/platform';
import type { DueDelivery } from './make-attempt.ts';
import { POLICY } from './policy.ts';

/** A process makes this part of the requests to an endpoint, rounded down, without a lease: most endpoints get few at once. */
const SPARE = 1 / 20;

const endpoints = new Map<string, SharedSlots>();
/** Each attempt occupies a worker slot for as long as its receiver takes. */
const workerSlots = new FairShare(config.WORKER_WEBHOOK_SLOTS);

/** Slots for concurrent requests to the delivery's endpoint, over all processes. */
export function requestSlots({ endpoint_id: id, failures_in_row: failures }: DueDelivery): SharedSlots {
  const most = Math.min(
    config.WEBHOOK_REQUESTS_PER_ENDPOINT,
    failures >= POLICY.endpoint.degradedAfter ? POLICY.endpoint.maxConcurrentDegraded : Infinity,
  );
  const options = { most, spare: Math.floor(most * SPARE) };
  const slots =
    endpoints.get(id) ?? new SharedSlots(`webhooks ${id}`, { ...options, onIdle: () => endpoints.delete(id) });
  slots.setMost(options);
  endpoints.set(id, slots);
  return slots;
}

/**
 * Acquires a slot for an attempt. Without this limit, hanging endpoints or one project's many endpoints would occupy
 * every worker slot.
 * @returns a function that releases the slot; `undefined` if none is free.
 */
export async function acquire(delivery: DueDelivery): Promise<(() => void) | undefined> {
  const releaseWorkerSlot = workerSlots.tryAcquire(delivery.project_id);
  if (releaseWorkerSlot === undefined) return undefined;
  const release = await requestSlots(delivery).acquire();
  if (release === undefined) releaseWorkerSlot();
  return release === undefined ? undefined : () => [release, releaseWorkerSlot].forEach((each) => each());
}
