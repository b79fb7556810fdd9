import { type Client, type WorkflowExecutionStatusName, WorkflowNotFoundError } from '@temporalio/client';
import { NOW, pool } from './db.ts';
import { listen } from './listen.ts';
import { logger } from '@postroom/observability';
import { exponentialDelays } from '@postroom/errors';
import { assertNoTransaction } from '@postroom/network';
import { Notifier, sleep } from '@postroom/concurrency';
import type { WorkerRole, WorkflowLabels } from '@postroom/temporal';
import { startOnce } from '@postroom/temporal/start-workflow';

export {
  type EagerStart,
  startAll,
  startEagerly,
  startOnce,
  startTracedWorkflows,
} from '@postroom/temporal/start-workflow';

/** A table whose pending rows become workflows. */
export interface DispatchSource {
  /** Payload of the notification that wakes this source. */
  name: string;
  /** Dispatches pending rows. Rows left undispatched are found again after a crash. */
  dispatch?: (client: Client) => Promise<Round>;
  /** Work done between rounds, such as looking for rows whose workflow was lost. */
  tasks?: readonly PeriodicTask[];
  /** The role whose workers run it; every worker by default. */
  role?: WorkerRole;
}

/** The result of one round. */
export interface Round {
  /** Requests another round at once. */
  more: boolean;
  /** The next round starts no earlier than this, on the clock of `performance.now()`: rows accumulate meanwhile. */
  resumeAt?: number;
}

/** One run at a time; it may take long without holding up rounds. */
export interface PeriodicTask {
  intervalMs: number;
  run: (client: Client) => Promise<unknown>;
}

/** Poll interval, in milliseconds. It covers lost notifications and due times. */
const POLL_MS = 1_000;
/** The longest wait after rounds that failed, in milliseconds. It begins at the poll interval and doubles; no notification ends it. */
const MAX_BACKOFF_MS = 5_000;

/** Turns pending rows into workflows until stopped. Several dispatchers may run: row locks and workflow ids prevent duplicates. */
export async function startDispatcher(
  client: Client,
  sources: readonly DispatchSource[],
): Promise<{ stop: () => Promise<void> }> {
  const stopping = new AbortController();
  const loops = sources.map((source) => {
    const notifier = new Notifier();
    return { name: source.name, notifier, ended: runRounds(client, source, notifier, stopping.signal) };
  });
  const listening = await Promise.all(loops.map(({ name, notifier }) => listen(name, () => notifier.notify())));
  return {
    stop: async () => {
      await Promise.all(listening.map((stopListening) => stopListening()));
      stopping.abort();
      await Promise.all(loops.map(({ ended }) => ended));
    },
  };
}

async function runRounds(
  client: Client,
  { name, dispatch, tasks = [] }: DispatchSource,
  notifier: Notifier,
  signal: AbortSignal,
): Promise<void> {
  const starters = tasks.map((task) => periodically(client, name, task));
  let backoff = exponentialDelays(POLL_MS, MAX_BACKOFF_MS);
  let resumeAt = 0;
  for (;;) {
    for (const startIfDue of starters) startIfDue();
    if (performance.now() < resumeAt) await sleep(resumeAt - performance.now(), signal);
    if (signal.aborted) return;
    notifier.clear();
    try {
      const { more, resumeAt: next = 0 } = (await dispatch?.(client)) ?? { more: false };
      backoff = exponentialDelays(POLL_MS, MAX_BACKOFF_MS);
      resumeAt = next;
      if (more) continue;
    } catch (error) {
      logger.warn({ err: error, source: name }, 'dispatch failed; will retry');
      await sleep(backoff.next().value, signal);
      continue;
    }
    await notifier.wait({ timeoutMs: POLL_MS, signal });
  }
}

/** Returns a function that starts a task if it is due and not running. */
function periodically(client: Client, source: string, { intervalMs, run }: PeriodicTask): () => void {
  let isRunning = false;
  let startedAt = -Infinity;
  return () => {
    if (isRunning || performance.now() - startedAt < intervalMs) return;
    isRunning = true;
    startedAt = performance.now();
    run(client)
      .catch((error: unknown) => logger.warn({ err: error, source }, 'a periodic task failed; will retry'))
      .finally(() => (isRunning = false));
  };
}

/** The status of a workflow; undefined if Temporal does not know it. */
export async function workflowStatus(
  client: Client,
  workflowId: string,
): Promise<WorkflowExecutionStatusName | undefined> {
  try {
    return (await client.workflow.getHandle(workflowId).describe()).status.name;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

interface OutboxRow {
  id: string;
  workflow_id: string;
  kind: 'start' | 'signal';
  name: string;
  args: unknown[];
  options: WorkflowLabels;
  /** How many times it was postponed. */
  refusals: number;
}

/** How long other dispatchers leave claimed rows alone, in seconds. A request fails after 30 if Temporal does not answer. */
const LEASE_SECONDS = 40;

/**
 * Claims the first due row of each workflow, at most 50 rows: other dispatchers see them as due once the lease has ended. A row
 * stays until it is dispatched, so that it keeps its place before later rows of its workflow.
 */
const CLAIM = `
  UPDATE outbox SET available_at = now() + interval '${LEASE_SECONDS} seconds'
  WHERE id = ANY(ARRAY(
    SELECT id FROM outbox o
    WHERE available_at <= ${NOW} AND NOT EXISTS (SELECT FROM outbox e WHERE e.workflow_id = o.workflow_id AND e.id < o.id)
    ORDER BY id LIMIT 50 FOR UPDATE SKIP LOCKED))
  RETURNING id, workflow_id, kind, name, args, options, refusals`;

/**
 * How often a signal to a workflow that Temporal does not know is postponed. The workflow of a row may start after the row is written, and
 * these retries give it 15 seconds.
 */
const MAX_UNKNOWN = 4;

/**
 * Postpones rows by one second, then two, up to eight: work of a row continues that soon after an outage.
 * @param $2 how often a row counts as postponed at most: an outage must not use up the retries of a signal.
 */
const POSTPONE = `
  UPDATE outbox SET refusals = least(refusals + 1, $2),
    available_at = now() + interval '1 second' * 2 ^ least(refusals, ${MAX_UNKNOWN - 1})
  WHERE id = ANY ($1)`;

/**
 * The outbox as a source. A row is deleted after it was dispatched, so after a crash it is dispatched again, once its lease has
 * ended; no transaction is open while Temporal answers. Rows of one workflow are dispatched in order, one at a time, so a signal never overtakes its start.
 */
export const outboxSource = {
  name: 'outbox',
  dispatch: async (client: Client) => {
    const { rows } = await pool.query<OutboxRow>(CLAIM);
    const results = await Promise.allSettled(rows.map((row) => dispatchRow(client, row)));
    const outcomes = results.map((result) => (result.status === 'fulfilled' ? result.value : undefined));
    const idsOf = (outcome?: boolean) => rows.filter((_, at) => outcomes[at] === outcome).map(({ id }) => id);
    const [done, unknown, rejected] = [idsOf(true), idsOf(false), idsOf()];
    if (done.length > 0) await pool.query('DELETE FROM outbox WHERE id = ANY($1)', [done]);
    if (unknown.length > 0) await pool.query(POSTPONE, [unknown, MAX_UNKNOWN]);
    if (rejected.length > 0) await pool.query(POSTPONE, [rejected, MAX_UNKNOWN - 1]);
    logRejections(rows, results);
    return { more: done.length > 0 };
  },
} satisfies DispatchSource;

/** One line for a round: while Temporal is down, all its rows are rejected for the same reason. */
function logRejections(rows: readonly OutboxRow[], results: readonly PromiseSettledResult<boolean>[]): void {
  const rejections = results.filter((result) => result.status === 'rejected');
  if (rejections[0] === undefined) return;
  const row = rows[results.indexOf(rejections[0])];
  const fields = { err: rejections[0].reason, workflowId: row?.workflow_id, name: row?.name };
  logger.warn({ ...fields, rejected: rejections.length }, 'Temporal rejected outbox rows; will retry');
}

/** @returns false for a signal whose workflow may start yet. @throws what Temporal answers to any other row that it rejects. */
async function dispatchRow(client: Client, row: OutboxRow): Promise<boolean> {
  assertNoTransaction(`Temporal was called for ${row.workflow_id}`);
  if (row.kind === 'start') {
    await startOnce(client, { workflowId: row.workflow_id, type: row.name, args: row.args, ...row.options });
    return true;
  }
  try {
    await client.workflow.getHandle(row.workflow_id).signal(row.name, ...row.args);
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return isUndeliverable(client, row);
    throw error;
  }
}

/** Whether a signal whose workflow is not running can be dropped: the workflow has ended, or did not start in time. */
async function isUndeliverable(
  client: Client,
  { workflow_id: workflowId, name, refusals }: OutboxRow,
): Promise<boolean> {
  const status = await workflowStatus(client, workflowId);
  // It may have started since the signal was rejected.
  if (status === 'RUNNING' || status === 'UNKNOWN') return false;
  if (status !== undefined) return true;
  if (refusals < MAX_UNKNOWN) return false;
  logger.warn({ workflowId, name }, 'dropped a signal to a workflow that never started');
  return true;
}
