import { config, pool } from '@postroom/platform';
import { type DispatchSource, type Round, startAll } from '@postroom/platform/dispatcher';
import type { Client } from '@temporalio/client';
import { forgetIdleEndpoints, recordDispatched, toEndpointQueue } from './endpoint-load.ts';
import { individualBudget } from './individual-budget.ts';
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
  role: 'webhooks',
  dispatch,
  tasks: [
    { intervalMs: POLICY.dispatch.forgetIntervalMs, run: async () => forgetIdleEndpoints() },
    { intervalMs: POLICY.individual.adaptIntervalMs, run: adaptBudget },
  ],
};

/** State between rounds. It affects only fairness and latency, never correctness. */
const state = {
  afterEndpoint: '',
  batchAt: 0,
};

const isAlways = config.WEBHOOK_WORKFLOWS === 'always';

/**
 * Adapts the budget for individual workflows. Attempts that another process has made show only in the table, and those that it is
 * making not at all: they count as waiting until their deadline has passed.
 */
async function adaptBudget(): Promise<void> {
  const { maxWaitMs, attemptEndsMs } = POLICY.individual;
  const late = individualBudget.waitingLongerThan(maxWaitMs, Date.now());
  if (late.length > 0) individualBudget.forget(await attempted(late));
  individualBudget.adapt(Date.now());
  individualBudget.forget(individualBudget.waitingLongerThan(attemptEndsMs, Date.now()));
}

async function attempted(ids: readonly string[]): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM deliveries WHERE id = ANY ($1) AND state = 'queued' AND dispatched_at IS NOT NULL`,
    [ids],
  );
  const queued = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !queued.has(id));
}

async function dispatch(client: Client): Promise<Round> {
  const { endpoints, inFlight, last } = await readWaiting(state.afterEndpoint);
  state.afterEndpoint = last;
  const takes = plan(endpoints.map(toEndpointQueue), {
    individually: individualBudget.available(Date.now(), { isAlways }),
    mayBatch: !isAlways,
    inFlight,
    now: Date.now(),
  });
  const first = await claimFirstAttempts(takes);
  recordDispatched(first);
  const isBurst = takes.some(({ batch }) => batch !== null);
  individualBudget.spend(first.length, Date.now());
  if (!isBurst)
    individualBudget.claimed(
      first.map(({ id }) => id),
      Date.now(),
    );
  if (isBurst) state.batchAt = Date.now();
  const isPartial = isBurst && first.length < POLICY.batch.size;
  // What may not be batched waits until Temporal has started what is before it.
  const mustWait = isAlways && endpoints.reduce((sum, { waiting }) => sum + waiting, 0) > first.length;
  const resumeAt = isPartial || mustWait ? Date.now() + POLICY.batch.lingerMs : 0;
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
      mustWait ||
      (first.length > 0 && (hasMorePerEndpoint || isFull)),
    resumeAt,
  };
}
