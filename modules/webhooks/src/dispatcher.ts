import { config, databaseNow, pool } from '@postroom/platform';
import { type DispatchSource, type Round, startAll } from '@postroom/platform/dispatcher';
import type { Client } from '@temporalio/client';
import { EndpointLoads } from './endpoint-load.ts';
import { individualBudget } from './individual-budget.ts';
import { plan, planRetries } from './plan.ts';
import {
  type Claimed,
  claimFirstAttempts,
  type ClaimedRetry,
  claimInTurn,
  claimRetries,
  DispatchWindow,
  type Queryable,
  readDueRetries,
  readWaiting,
  releaseClaim,
} from './queue.ts';
import { startsOf } from './starts.ts';
import { POLICY } from './policy.ts';

/**
 * Starts workflows for waiting deliveries: `deliverWebhook` for one, `deliverBatch` for up to 600 first attempts or
 * retries.
 * Deliveries are claimed before their workflow starts and released if the start fails. A crash in between leaves
 * claimed deliveries without a workflow; the sweep finds those (durable-work.ts).
 */
export const source: DispatchSource = {
  name: 'deliveries',
  role: 'webhooks',
  dispatch,
  tasks: [
    { intervalMs: POLICY.dispatch.forgetIntervalMs, run: async () => forgetIdle() },
    { intervalMs: POLICY.individual.adaptIntervalMs, run: adaptBudget },
  ],
};

/** State between rounds. It affects only fairness and latency, never correctness. */
const state = {
  afterEndpoint: '',
  loads: new EndpointLoads(),
  afterRetries: '',
  retryLoads: new EndpointLoads(),
  retriesAt: 0,
  window: new DispatchWindow(),
  retryWindow: new DispatchWindow(),
};

function forgetIdle(): void {
  state.loads.forgetIdle();
  state.retryLoads.forgetIdle();
}

const isAlways = config.WEBHOOK_WORKFLOWS === 'always';

/**
 * Adapts the budget for individual workflows. Attempts that another process has made show only in the table, and those that it is
 * making not at all: they count as waiting until their deadline has passed.
 */
async function adaptBudget(): Promise<void> {
  const { maxWaitMs, attemptEndsMs } = POLICY.individual;
  const late = individualBudget.waitingLongerThan(maxWaitMs, databaseNow());
  if (late.length > 0) individualBudget.forget(await selectAttempted(late));
  individualBudget.adapt(databaseNow());
  individualBudget.forget(individualBudget.waitingLongerThan(attemptEndsMs, databaseNow()));
}

/** Those of the deliveries whose first attempt has been recorded. */
async function selectAttempted(ids: readonly string[]): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM deliveries WHERE id = ANY ($1) AND state = 'queued' AND dispatched_at IS NOT NULL`,
    [ids],
  );
  const queued = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !queued.has(id));
}

const NO_RETRIES: { claimed: ClaimedRetry[]; more: boolean } = { claimed: [], more: false };

async function dispatch(client: Client): Promise<Round> {
  const first = await claimInTurn(claimWaiting);
  const retries = databaseNow() < state.retriesAt ? NO_RETRIES : await claimInTurn(claimDueRetries);
  const starts = startsOf([...first.claimed, ...retries.claimed]);
  const started = await startAll(client, starts, (rejected) =>
    releaseClaim(rejected.flatMap(({ deliveryIds }) => deliveryIds)),
  );
  const mayRepeat = started > 0 || starts.length === 0;
  return { more: mayRepeat && (first.more || retries.more), resumeAt: first.resumeAt };
}

async function claimWaiting(client: Queryable): Promise<Required<Round> & { claimed: Claimed[] }> {
  const from = state.window.next(databaseNow());
  const { endpoints, inFlight, last } = await readWaiting(client, state.afterEndpoint, from);
  state.afterEndpoint = last;
  const takes = plan(
    endpoints.map((row) => state.loads.toQueue(row)),
    {
      individually: individualBudget.available(databaseNow(), { isAlways }),
      mayBatch: !isAlways,
      inFlight,
      maxInFlight: config.WEBHOOK_MAX_IN_FLIGHT,
      now: databaseNow(),
    },
  );
  const claimed = await claimFirstAttempts(client, takes, from);
  state.window.done(from, { claimed, isLastPage: last === '' }, databaseNow());
  state.loads.recordDispatched(claimed);
  const isBurst = takes.some(({ batch }) => batch !== null);
  individualBudget.spend(claimed.length, databaseNow());
  if (!isBurst)
    individualBudget.recordClaimed(
      claimed.map(({ id }) => id),
      databaseNow(),
    );
  const isPartial = isBurst && claimed.length < POLICY.batch.size;
  // What may not be batched waits until Temporal has started what is before it.
  const mustWait = isAlways && endpoints.reduce((sum, { waiting }) => sum + waiting, 0) > claimed.length;
  const hasMorePerEndpoint = takes.some(({ take }) => take === POLICY.batch.size);
  const isFull = takes.reduce((sum, { take }) => sum + take, 0) >= POLICY.dispatch.maxClaimedPerRound;
  return {
    claimed,
    more: last !== '' || mustWait || (claimed.length > 0 && (hasMorePerEndpoint || isFull)),
    resumeAt: isPartial || mustWait ? performance.now() + POLICY.batch.lingerMs : 0,
  };
}

/** Reads its own pages, so that endpoints with many retries delay no first attempts. */
async function claimDueRetries(client: Queryable): Promise<{ claimed: ClaimedRetry[]; more: boolean }> {
  const from = state.retryWindow.next(databaseNow());
  const { endpoints, inFlight, last } = await readDueRetries(client, state.afterRetries, from);
  state.afterRetries = last;
  if (last === '') state.retriesAt = databaseNow() + POLICY.dispatch.retryIntervalMs;
  const takes = planRetries(
    endpoints.map((row) => state.retryLoads.toQueue(row)),
    {
      individually: individualBudget.available(databaseNow(), { isAlways }),
      mayBatch: !isAlways,
      inFlight,
      maxInFlight: config.WEBHOOK_MAX_IN_FLIGHT * POLICY.dispatch.retryShare,
    },
  );
  const claimed = await claimRetries(client, takes, from);
  state.retryWindow.done(from, { claimed, isLastPage: last === '' }, databaseNow());
  state.retryLoads.recordDispatched(claimed);
  if (isAlways)
    individualBudget.recordClaimed(
      claimed.map(({ id }) => id),
      databaseNow(),
    );
  return { claimed, more: last !== '' };
}
