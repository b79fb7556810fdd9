import { logger } from '@postroom/platform';
import { type DispatchSource, startOnce } from '@postroom/platform/dispatcher';
import type { Client } from '@temporalio/client';
import { forgetIdleEndpoints, recordDispatched, toEndpointQueue } from './endpoint-load.ts';
import { plan, TAKEN_PER_ROUND } from './plan.ts';
import { BATCH_SIZE, claimFirstAttempts, claimRetries, readWaiting, releaseClaim } from './queue.ts';
import { firstStarts, retryStart, type Start } from './starts.ts';
import { reconcile } from './reconcile.ts';

/** Up to so many deliveries a second, and so many at once, each get a workflow of their own; above it they go in batches. */
const ALONE_PER_SECOND = 10;
const ALONE_AT_ONCE = 20;

/** In a burst that does not fill its batches, so long is waited for more. */
const GATHER_MS = 75;

/**
 * So long after the last batch a burst may still be under way, though this round had no room for more of it. What waits for
 * a retry costs Temporal a workflow each, a hundred times what a first attempt in a batch costs, and has a minute's time.
 */
const BURST_MS = 3_000;

/** Retries handed over in one round. */
const RETRIES_PER_ROUND = 20;

const SWEEP_EVERY_MS = 10_000;

/**
 * Waiting deliveries become workflows: `deliverWebhook` for one, `deliverBatch` for the first attempts of up to 600. They
 * are marked before their workflow starts, and those of a start that fails are unmarked; what a crash leaves marked
 * without a workflow is found by the sweep.
 */
export const source: DispatchSource = { name: 'deliveries', handOver };

/** What this relay remembers between rounds; nothing of it is needed to be right, only to be fair and quick. */
const memory = {
  afterEndpoint: '',
  alone: ALONE_AT_ONCE,
  countedAt: Date.now(),
  partialBatchAt: 0,
  batchAt: 0,
  sweptAt: 0,
  isSweeping: false,
};

async function handOver(client: Client): Promise<{ handed: number; more: boolean }> {
  sweepNowAndThen(client);
  await gather();
  const { endpoints, inHand, last } = await readWaiting(memory.afterEndpoint);
  memory.afterEndpoint = last;
  const takes = plan(endpoints.map(toEndpointQueue), { alone: roomForAlone(), inHand, now: Date.now() });
  const first = await claimFirstAttempts(takes);
  recordDispatched(first);
  const isBurst = takes.some(({ batch }) => batch !== null);
  noteLoad(first.length, isBurst);
  const retries = await claimRetries(RETRIES_PER_ROUND, { isBusy: Date.now() - memory.batchAt < BURST_MS });
  await startAll(client, [...retries.map(retryStart), ...firstStarts(first)]);
  const isMoreOfOne = takes.some(({ take }) => take === BATCH_SIZE);
  const isFull = takes.reduce((sum, { take }) => sum + take, 0) >= TAKEN_PER_ROUND;
  return {
    handed: retries.length + first.length,
    more: retries.length === RETRIES_PER_ROUND || last !== '' || (first.length > 0 && (isMoreOfOne || isFull)),
  };
}

async function startAll(client: Client, starts: readonly Start[]): Promise<void> {
  const results = await Promise.allSettled(starts.map((start) => startOnce(client, start)));
  const refused = starts.filter((_, index) => results[index]?.status === 'rejected');
  if (refused.length === 0) return;
  await releaseClaim(refused.flatMap(({ deliveryIds }) => deliveryIds));
  throw results.find((result) => result.status === 'rejected')?.reason;
}

/** Room for workflows of one delivery: it grows by the second and shrinks with every delivery, so a lasting burst leaves none. */
function roomForAlone(): number {
  const now = Date.now();
  memory.alone = Math.min(ALONE_AT_ONCE, memory.alone + ((now - memory.countedAt) / 1000) * ALONE_PER_SECOND);
  memory.countedAt = now;
  return Math.floor(memory.alone);
}

function noteLoad(taken: number, inBatches: boolean): void {
  memory.alone = Math.max(-ALONE_AT_ONCE, memory.alone - taken);
  if (inBatches) memory.batchAt = Date.now();
  if (inBatches && taken < BATCH_SIZE) memory.partialBatchAt = Date.now();
}

async function gather(): Promise<void> {
  const waitMs = memory.partialBatchAt + GATHER_MS - Date.now();
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
}

/** Nobody waits for it: it asks Temporal about hundreds of workflows, which may all be of one project. */
function sweepNowAndThen(client: Client): void {
  if (memory.isSweeping || Date.now() - memory.sweptAt < SWEEP_EVERY_MS) return;
  memory.sweptAt = Date.now();
  memory.isSweeping = true;
  forgetIdleEndpoints();
  reconcile(client)
    .then(
      (found) => {
        if (found > 0)
          logger.warn({ deliveries: found }, 'the workflows of some deliveries were gone; they are handed over again');
      },
      (error: unknown) => logger.warn({ err: error }, 'could not look for deliveries without a workflow; will retry'),
    )
    .finally(() => (memory.isSweeping = false));
}
