import {
  type Client,
  type WorkflowClientInterceptor,
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';
import { inTransaction, pool } from './db.ts';
import { listen } from './listen.ts';
import { logger } from './logger.ts';
import { SEARCH_ATTRIBUTES, type WorkflowLabels } from './outbox.ts';
import { config } from './config.ts';

/** A table whose pending rows become workflows. */
export interface DispatchSource {
  /** Payload of the notification that wakes this source. */
  name: string;
  /**
   * Dispatches pending rows; `more` requests another call at once. Rows left undispatched are found again after a
   * crash.
   */
  dispatch: (client: Client) => Promise<{ dispatched: number; more: boolean }>;
}

/** Poll interval, in milliseconds. It covers lost notifications and due times. */
const POLL_MS = 1_000;

/**
 * Turns pending rows into workflows until stopped. Several dispatchers may run: row locks and workflow ids prevent
 * duplicates.
 */
export async function startDispatcher(
  client: Client,
  sources: readonly DispatchSource[],
): Promise<{ stop: () => Promise<void> }> {
  const loops = sources.map((source) => startLoop(client, source));
  const listening = await Promise.all(loops.map((loop) => listen(loop.name, loop.wake)));
  return {
    stop: async () => {
      await Promise.all(listening.map((stopListening) => stopListening()));
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

function startLoop(client: Client, source: DispatchSource) {
  let running = true;
  let woken = true;
  let wake = () => {};
  const loop = async () => {
    let failures = 0;
    while (running) {
      woken = false;
      try {
        const { more } = await source.dispatch(client);
        failures = 0;
        if (more) continue;
      } catch (error) {
        failures++;
        logger.warn({ err: error, source: source.name }, 'dispatch failed; will retry');
      }
      if (woken && failures === 0) continue;
      const waitMs = failures === 0 ? POLL_MS : Math.min(POLL_MS * 2 ** (failures - 1), 15_000);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  const ended = loop();
  return {
    name: source.name,
    wake: () => {
      woken = true;
      wake();
    },
    stop: async () => {
      running = false;
      wake();
      await ended;
    },
  };
}

interface OutboxRow {
  id: string;
  workflow_id: string;
  kind: 'start' | 'signal';
  name: string;
  args: unknown[];
  options: WorkflowLabels;
}

/** The first due row of each workflow, at most 50 rows. */
const NEXT_ROWS = `
  SELECT id, workflow_id, kind, name, args, options FROM outbox o
  WHERE available_at <= now() AND NOT EXISTS (SELECT FROM outbox e WHERE e.workflow_id = o.workflow_id AND e.id < o.id)
  ORDER BY id LIMIT 50 FOR UPDATE SKIP LOCKED`;

/** Exponential backoff for rows that Temporal rejected: one second, then two, up to a minute. */
const POSTPONE = `
  UPDATE outbox SET refusals = refusals + 1,
    available_at = now() + least(interval '1 minute', interval '1 second' * 2 ^ least(refusals, 6))
  WHERE id = ANY($1)`;

/**
 * The outbox as a source. A row is deleted in the transaction that dispatched it, so a crash dispatches it again.
 * Rows of one workflow are dispatched in order, one at a time, so a signal never overtakes its start.
 */
export const outboxSource: DispatchSource = {
  name: 'outbox',
  dispatch: async (client) => {
    const dispatched = await inTransaction(async (tx) => {
      const { rows } = await tx.query<OutboxRow>(NEXT_ROWS);
      const results = await Promise.all(rows.map((row) => handOverRow(client, row)));
      const done = rows.filter((_, index) => results[index] === true).map((row) => row.id);
      const refused = rows.filter((_, index) => results[index] !== true).map((row) => row.id);
      if (done.length > 0) await tx.query('DELETE FROM outbox WHERE id = ANY($1)', [done]);
      if (refused.length > 0) await tx.query(POSTPONE, [refused]);
      return done.length;
    });
    return { dispatched, more: dispatched > 0 };
  },
};

async function handOverRow(client: Client, row: OutboxRow): Promise<boolean> {
  try {
    if (row.kind === 'start') {
      await startOnce(client, { workflowId: row.workflow_id, type: row.name, args: row.args, ...row.options });
    } else {
      await client.workflow.getHandle(row.workflow_id).signal(row.name, ...row.args);
    }
    return true;
  } catch (error) {
    // A signal to a closed workflow has nothing left to change.
    if (row.kind === 'signal' && error instanceof WorkflowNotFoundError) return true;
    logger.warn(
      { err: error, workflowId: row.workflow_id, name: row.name },
      'Temporal rejected an outbox row; will retry',
    );
    return false;
  }
}

export interface EagerStart extends WorkflowLabels {
  workflowId: string;
  type: string;
  args: unknown[];
  /** Milliseconds until its first task. */
  startDelayMs?: number;
}

/** Starts a workflow with its row's id. Succeeds if that workflow already exists, running or closed. */
export async function startOnce(client: Client, start: EagerStart): Promise<void> {
  try {
    await client.workflow.start(start.type, {
      taskQueue: config.TEMPORAL_TASK_QUEUE,
      workflowId: start.workflowId,
      args: start.args,
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
      ...(start.startDelayMs === undefined ? {} : { startDelay: start.startDelayMs }),
      ...(start.summary === undefined ? {} : { staticSummary: start.summary }),
      ...(start.details === undefined ? {} : { staticDetails: start.details }),
      typedSearchAttributes: searchAttributes(start.searchAttributes ?? {}),
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/**
 * For a client whose connection is shared with a worker of this process: uses eager start, so that the workflow's
 * first task comes back with the start response, if the worker has a free slot, instead of through a task queue.
 */
export const startEagerly: WorkflowClientInterceptor = {
  startWithDetails: (input, next) => next({ ...input, options: { ...input.options, requestEagerStart: true } }),
};

function searchAttributes(values: NonNullable<WorkflowLabels['searchAttributes']>): TypedSearchAttributes {
  const pairs = SEARCH_ATTRIBUTES.flatMap((name) => {
    const value = values[name];
    return value === undefined ? [] : [{ key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD), value }];
  });
  return new TypedSearchAttributes(pairs);
}

/** The outbox backlog: pending rows, and the age of the oldest in seconds. */
export async function outboxBacklog(): Promise<{ rows: number; oldestSeconds: number }> {
  const { rows } = await pool.query<{ rows: number; oldest: number | null }>(
    'SELECT count(*)::int AS rows, extract(epoch FROM now() - min(created_at))::float AS oldest FROM outbox',
  );
  return { rows: rows[0]?.rows ?? 0, oldestSeconds: rows[0]?.oldest ?? 0 };
}
