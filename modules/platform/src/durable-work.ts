import { randomUUID } from 'node:crypto';
import type { Client, WorkflowExecutionStatusName } from '@temporalio/client';
import { pool } from './db.ts';
import { type DispatchSource, type EagerStart, startOnce, workflowStatus } from './dispatcher.ts';
import { logger } from '@postroom/observability';

/** A row that is open, or several of one workflow, and the workflow that should be running for it. */
export interface OpenWork {
  workflowId: string;
}

/**
 * One kind of work that rows describe and workflows do. Temporal may lose a workflow: an operator terminated it, it failed, or
 * the server's data was replaced. The rows then stay open, and the sweep finds them.
 */
export interface DurableWork<Open extends OpenWork = OpenWork> {
  /** For logs and metrics, such as `imports`. */
  name: string;
  /** The types of the workflows that do it. */
  workflows: readonly string[];
  /**
   * SQL of the open rows that are suspicious, with the column `"workflowId"`. It should find few rows of a healthy system, at a cost
   * that does not grow with closed ones: each row found is one request to Temporal.
   */
  open: string;
  /** Gets lost work going again. Several workers may do so at once. @returns how many rows it recovered. */
  recover: (client: Client, open: Open, status: WorkflowExecutionStatusName | undefined) => Promise<number>;
  /** Called for work whose workflow runs. */
  confirm?: (open: Open) => Promise<void>;
}

/** A kind whose members get its own row type. */
export const durableWork = <Open extends OpenWork>(work: DurableWork<Open>): DurableWork =>
  work as unknown as DurableWork;

/** Recovers work by starting its workflow under the same id, which must be `restartable`. */
export const restartWorkflow =
  <Open>(startOf: (open: Open) => EagerStart) =>
  async (client: Client, open: Open): Promise<number> => {
    await startOnce(client, startOf(open));
    return 1;
  };

/** Interval between sweeps of an installation. The kinds' own delays are relative to it. */
const INTERVAL_MS = 15_000;
/** A worker that dies during a sweep delays the next one by this. */
const LEASE_MS = 60_000;
/** Rows checked at a time. */
const PAGE = 200;
/** Concurrent requests to Temporal. */
const CONCURRENCY = 10;
/** Pages of lost work that one sweep recovers. */
const MAX_PAGES = 25;

/** Work besides finding lost workflows that one worker at a time repeats, such as making sure that the schedules exist. */
export type Upkeep = (client: Client) => Promise<unknown>;

/** Checks every kind of work, one worker at a time. An error in one kind does not keep the others from being checked. */
export function sweepSource(kinds: readonly DurableWork[], upkeep: readonly Upkeep[]): DispatchSource {
  const steps: Upkeep[] = [...upkeep, ...kinds.map((kind) => (client: Client) => recoverLost(client, kind))];
  const sweep = async (client: Client) => {
    if (!(await takeLease('sweep', LEASE_MS))) return;
    for (const step of steps) {
      await step(client).catch((error: unknown) => logger.warn({ err: error }, 'a sweep step failed; will retry'));
      await takeLease('sweep', LEASE_MS);
    }
    // The next sweep, by whichever worker is first, begins an interval later.
    await takeLease('sweep', INTERVAL_MS);
  };
  return { name: 'sweep', tasks: [{ intervalMs: INTERVAL_MS / 3, run: sweep }] };
}

/**
 * Recovers work of one kind whose workflow is not open.
 * @returns how many rows.
 */
export async function recoverLost(client: Client, kind: DurableWork): Promise<number> {
  let recovered = 0;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { rows } = await pool.query<OpenWork>(readOpen(kind));
    const counts: number[] = [];
    for (let at = 0; at < rows.length; at += CONCURRENCY)
      counts.push(...(await Promise.all(rows.slice(at, at + CONCURRENCY).map((open) => check(client, kind, open)))));
    const found = counts.reduce((sum, count) => sum + count, 0);
    recovered += found;
    if (rows.length < PAGE || found === 0) break;
  }
  if (recovered > 0) logger.warn({ kind: kind.name, recovered }, 'recovered work that had lost its workflow');
  return recovered;
}

/**
 * Leaves out work with a start or signal in the outbox, which is about to get its workflow. The order is random, so that a page full of late
 * but healthy work does not hide the rest.
 */
const readOpen = ({ open }: DurableWork) => `
  SELECT * FROM (${open}) AS open
  WHERE NOT EXISTS (SELECT FROM outbox o WHERE o.workflow_id = open."workflowId") ORDER BY random() LIMIT ${PAGE}`;

async function check(client: Client, { name, recover, confirm }: DurableWork, open: OpenWork): Promise<number> {
  try {
    const status = await workflowStatus(client, open.workflowId);
    if (!isClosed(status)) {
      await confirm?.(open);
      return 0;
    }
    return await recover(client, open, status);
  } catch (error) {
    logger.warn({ err: error, kind: name, workflowId: open.workflowId }, 'could not recover work; will retry');
    return 0;
  }
}

const CLOSED: readonly WorkflowExecutionStatusName[] = ['COMPLETED', 'FAILED', 'CANCELLED', 'TERMINATED', 'TIMED_OUT'];

/** Whether nothing is running: Temporal does not know the workflow, or it has ended. */
const isClosed = (status: WorkflowExecutionStatusName | undefined) => status === undefined || CLOSED.includes(status);

/** Identifies this process as a holder. */
const HOLDER = randomUUID();

/**
 * Takes or renews a lease, which at most one process holds at a time. A row instead of an advisory lock, so that neither a
 * connection nor a transaction is kept while the holder works.
 * @param forMs how long it lasts unless it is renewed, in milliseconds.
 * @returns false while another process holds it.
 */
async function takeLease(name: string, forMs: number): Promise<boolean> {
  const { rowCount } = await pool.query(
    `INSERT INTO leases AS l (name, holder, expires_at) VALUES ($1, $2, now() + $3 * interval '1 ms')
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
     WHERE l.holder = excluded.holder OR l.expires_at <= now()`,
    [name, HOLDER, Math.ceil(forMs)],
  );
  return rowCount === 1;
}
