import { sql } from './db.ts';
import type { Tx } from './transaction-observer.ts';
import { currentTraceparent } from '@postroom/observability';
import type { WorkflowLabels } from '@postroom/temporal';

export interface WorkflowStart extends WorkflowLabels {
  /** The id of the row it works for. A second start with the same id is ignored. */
  workflowId: string;
  /** The exported name of the workflow function. */
  type: string;
  args: unknown[];
}

export interface WorkflowSignal {
  workflowId: string;
  signal: string;
  args?: unknown[];
}

/** Requests a workflow start once this transaction commits. The dispatcher performs it, even after a crash. */
export async function startWorkflow(tx: Tx, { workflowId, type, args, ...labels }: WorkflowStart): Promise<void> {
  await insertRow(tx, [workflowId, 'start', type, JSON.stringify(args), JSON.stringify(withTraceContext(labels))]);
}

/** Requests a signal once this transaction commits. A closed workflow ignores it; one that is about to start gets it then. */
export async function signalWorkflow(tx: Tx, { workflowId, signal, args = [] }: WorkflowSignal): Promise<void> {
  await insertRow(tx, [workflowId, 'signal', signal, JSON.stringify(args), '{}']);
}

/** Adds the trace context of the caller, unless the labels have one. */
function withTraceContext(labels: WorkflowLabels): WorkflowLabels {
  const traceparent = labels.traceparent ?? currentTraceparent();
  return traceparent === null ? labels : { ...labels, traceparent };
}

async function insertRow(tx: Tx, values: [string, 'start' | 'signal', string, string, string]): Promise<void> {
  await sql(
    tx,
    `WITH added AS (
       INSERT INTO outbox (workflow_id, kind, name, args, options) VALUES ($1, $2, $3, $4::json, $5::json)
     ) SELECT pg_notify('postroom', 'outbox')::text`,
    values,
  );
}
