import { TokenBucket } from '@postroom/platform';
import { type DispatchSource, type Round, startAll } from '@postroom/platform/dispatcher';
import type { Client } from '@temporalio/client';
import { forgetIdleEndpoints, recordDispatched, toEndpointQueue } from './endpoint-load.ts';
import { plan } from './plan.ts';
import { claimFirstAttempts, claimRetries, readWaiting, releaseClaim } from './queue.ts';
import { firstStarts, retryStart } from './starts.ts';
import { POLICY } from './policy.ts';

/**
 * Starts workflows for waiting deliveries: `deliverWebhook` for one, `deliverBatch` for up to 600 first attempts.
 * Deliveries are claimed before their workflow starts and released if the start fails. A crash in between leaves
 * claimed deliveries without a workflow; the sweep finds those (durable-work.ts).
 */
export const source: DispatchSource = {
  name: 'deliveries',
  dispatch,
  tasks: [{ intervalMs: POLICY.dispatch.forgetIntervalMs, run: async () => forgetIdleEndpoints() }],
};

/** State between rounds. It affects only fairness and latency, never correctness. */
const state = {
  afterEndpoint: '',
  /** Every delivery spends it, so a sustained burst leaves no budget. */
  individual: new TokenBucket({
    ratePerSecond: POLICY.dispatch.individualPerSecond,
    capacity: POLICY.dispatch.individualBurst,
    maxDebt: POLICY.dispatch.individualBurst,
  }),
  batchAt: 0,
};

async function dispatch(client: Client): Promise<Round> {
  const { endpoints, inFlight, last } = await readWaiting(state.afterEndpoint);
  state.afterEndpoint = last;
  const takes = plan(endpoints.map(toEndpointQueue), {
    individually: Math.floor(state.individual.available()),
    inFlight,
    now: Date.now(),
  });
  const first = await claimFirstAttempts(takes);
  recordDispatched(first);
  const isBurst = takes.some(({ batch }) => batch !== null);
  state.individual.spend(first.length);
  if (isBurst) state.batchAt = Date.now();
  const isPartial = isBurst && first.length < POLICY.batch.size;
  const resumeAt = isPartial ? Date.now() + POLICY.batch.lingerMs : 0;
  const retries = await claimRetries(POLICY.dispatch.retriesPerRound, {
    isBusy: Date.now() - state.batchAt < POLICY.dispatch.burstCooldownMs,
  });
  await startAll(client, [...retries.map(retryStart), ...firstStarts(first)], (rejected) =>
    releaseClaim(rejected.flatMap(({ deliveryIds }) => deliveryIds)),
  );
  const hasMorePerEndpoint = takes.some(({ take }) => take === POLICY.batch.size);
  const isFull = takes.reduce((sum, { take }) => sum + take, 0) >= POLICY.dispatch.maxClaimedPerRound;
  return {
    more:
      retries.length === POLICY.dispatch.retriesPerRound ||
      last !== '' ||
      (first.length > 0 && (hasMorePerEndpoint || isFull)),
    resumeAt,
  };
}
