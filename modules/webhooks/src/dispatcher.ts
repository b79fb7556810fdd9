import { TokenBucket } from '@postroom/platform';
import { type DispatchSource, type Round, startAll } from '@postroom/platform/dispatcher';
import type { Client } from '@temporalio/client';
import { forgetIdleEndpoints, recordDispatched, toEndpointQueue } from './endpoint-load.ts';
import { plan, MAX_CLAIMED_PER_ROUND } from './plan.ts';
import { BATCH_SIZE, claimFirstAttempts, claimRetries, readWaiting, releaseClaim } from './queue.ts';
import { firstStarts, retryStart } from './starts.ts';
import { reconcile } from './reconcile.ts';

/** Token bucket for deliveries that get their own workflow. Beyond it, first attempts are batched. */
const INDIVIDUAL_PER_SECOND = 10;
const INDIVIDUAL_BURST = 20;

/** How long to wait for a partly filled batch to fill up. */
const BATCH_LINGER_MS = 75;

/**
 * After a batch, a burst is assumed to continue for this long even if this round dispatched none of it. Retries yield
 * to it: each costs Temporal a workflow, a hundred times a batched first attempt, and has a minute of slack.
 */
const BURST_COOLDOWN_MS = 3_000;

const RETRIES_PER_ROUND = 20;

const RECONCILE_INTERVAL_MS = 10_000;

/**
 * Starts workflows for waiting deliveries: `deliverWebhook` for one, `deliverBatch` for up to 600 first attempts.
 * Deliveries are claimed before their workflow starts and released if the start fails. A crash in between leaves
 * claimed deliveries without a workflow; `reconcile` finds those.
 */
export const source: DispatchSource = {
  name: 'deliveries',
  dispatch,
  tasks: [
    { intervalMs: RECONCILE_INTERVAL_MS, run: reconcile },
    { intervalMs: RECONCILE_INTERVAL_MS, run: async () => forgetIdleEndpoints() },
  ],
};

/** State between rounds. It affects only fairness and latency, never correctness. */
const state = {
  afterEndpoint: '',
  /** Every delivery spends it, so a sustained burst leaves no budget. */
  individual: new TokenBucket({
    ratePerSecond: INDIVIDUAL_PER_SECOND,
    capacity: INDIVIDUAL_BURST,
    maxDebt: INDIVIDUAL_BURST,
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
  const isPartial = isBurst && first.length < BATCH_SIZE;
  const resumeAt = isPartial ? Date.now() + BATCH_LINGER_MS : 0;
  const retries = await claimRetries(RETRIES_PER_ROUND, { isBusy: Date.now() - state.batchAt < BURST_COOLDOWN_MS });
  await startAll(client, [...retries.map(retryStart), ...firstStarts(first)], (rejected) =>
    releaseClaim(rejected.flatMap(({ deliveryIds }) => deliveryIds)),
  );
  const hasMorePerEndpoint = takes.some(({ take }) => take === BATCH_SIZE);
  const isFull = takes.reduce((sum, { take }) => sum + take, 0) >= MAX_CLAIMED_PER_ROUND;
  return {
    more: retries.length === RETRIES_PER_ROUND || last !== '' || (first.length > 0 && (hasMorePerEndpoint || isFull)),
    resumeAt,
  };
}
