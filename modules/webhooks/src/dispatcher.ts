import { logger } from '@postroom/platform';
import { type DispatchSource, startOnce } from '@postroom/platform/dispatcher';
import type { Client } from '@temporalio/client';
import { forgetIdleEndpoints, recordDispatched, toEndpointQueue } from './endpoint-load.ts';
import { plan, MAX_CLAIMED_PER_ROUND } from './plan.ts';
import { BATCH_SIZE, claimFirstAttempts, claimRetries, readWaiting, releaseClaim } from './queue.ts';
import { firstStarts, retryStart, type Start } from './starts.ts';
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
export const source: DispatchSource = { name: 'deliveries', dispatch };

/** State between rounds. It affects only fairness and latency, never correctness. */
const state = {
  afterEndpoint: '',
  individualTokens: INDIVIDUAL_BURST,
  refilledAt: Date.now(),
  partialBatchAt: 0,
  batchAt: 0,
  reconciledAt: 0,
  isReconciling: false,
};

async function dispatch(client: Client): Promise<{ dispatched: number; more: boolean }> {
  reconcilePeriodically(client);
  await lingerForBatch();
  const { endpoints, inFlight, last } = await readWaiting(state.afterEndpoint);
  state.afterEndpoint = last;
  const takes = plan(endpoints.map(toEndpointQueue), { individually: individualBudget(), inFlight, now: Date.now() });
  const first = await claimFirstAttempts(takes);
  recordDispatched(first);
  const isBurst = takes.some(({ batch }) => batch !== null);
  recordLoad(first.length, isBurst);
  const retries = await claimRetries(RETRIES_PER_ROUND, { isBusy: Date.now() - state.batchAt < BURST_COOLDOWN_MS });
  await startAll(client, [...retries.map(retryStart), ...firstStarts(first)]);
  const hasMorePerEndpoint = takes.some(({ take }) => take === BATCH_SIZE);
  const isFull = takes.reduce((sum, { take }) => sum + take, 0) >= MAX_CLAIMED_PER_ROUND;
  return {
    dispatched: retries.length + first.length,
    more: retries.length === RETRIES_PER_ROUND || last !== '' || (first.length > 0 && (hasMorePerEndpoint || isFull)),
  };
}

async function startAll(client: Client, starts: readonly Start[]): Promise<void> {
  const results = await Promise.allSettled(starts.map((start) => startOnce(client, start)));
  const rejected = starts.filter((_, index) => results[index]?.status === 'rejected');
  if (rejected.length === 0) return;
  await releaseClaim(rejected.flatMap(({ deliveryIds }) => deliveryIds));
  throw results.find((result) => result.status === 'rejected')?.reason;
}

/** Refills with time and is spent by every delivery, so a sustained burst leaves no budget. */
function individualBudget(): number {
  const now = Date.now();
  state.individualTokens = Math.min(
    INDIVIDUAL_BURST,
    state.individualTokens + ((now - state.refilledAt) / 1000) * INDIVIDUAL_PER_SECOND,
  );
  state.refilledAt = now;
  return Math.floor(state.individualTokens);
}

function recordLoad(taken: number, inBatches: boolean): void {
  state.individualTokens = Math.max(-INDIVIDUAL_BURST, state.individualTokens - taken);
  if (inBatches) state.batchAt = Date.now();
  if (inBatches && taken < BATCH_SIZE) state.partialBatchAt = Date.now();
}

async function lingerForBatch(): Promise<void> {
  const waitMs = state.partialBatchAt + BATCH_LINGER_MS - Date.now();
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
}

/** Runs in the background: it queries Temporal about hundreds of workflows, which may all belong to one project. */
function reconcilePeriodically(client: Client): void {
  if (state.isReconciling || Date.now() - state.reconciledAt < RECONCILE_INTERVAL_MS) return;
  state.reconciledAt = Date.now();
  state.isReconciling = true;
  forgetIdleEndpoints();
  reconcile(client)
    .then(
      (released) => {
        if (released > 0) logger.warn({ deliveries: released }, 'deliveries had lost their workflow; requeued');
      },
      (error: unknown) => logger.warn({ err: error }, 'could not reconcile deliveries; will retry'),
    )
    .finally(() => (state.isReconciling = false));
}
