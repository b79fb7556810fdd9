import { type Tx, sql } from './db.ts';

/** What may be said about a workflow beside its arguments; shown in the Temporal UI. Ids only, never an address. */
export interface WorkflowLabels {
  /** One line of at most 200 bytes for the list of workflows. */
  summary?: string;
  /** Markdown for the workflow's page. */
  details?: string;
  searchAttributes?: Partial<Record<SearchAttribute, string>>;
}

/** The keyword search attributes that every Postroom namespace has. */
export const SEARCH_ATTRIBUTES = ['projectId', 'campaignId', 'endpointId', 'eventType', 'deliveryStatus'] as const;
export type SearchAttribute = (typeof SEARCH_ATTRIBUTES)[number];

export interface WorkflowStart extends WorkflowLabels {
  /** The id of the row it works for: a second start under the same id is ignored. */
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

/** Asks for a workflow to be started once this transaction commits; the relay does it, also after a crash. */
export async function startWorkflow(tx: Tx, { workflowId, type, args, ...labels }: WorkflowStart): Promise<void> {
  await insert(tx, [workflowId, 'start', type, JSON.stringify(args), JSON.stringify(labels)]);
}

/** Asks for a signal to be sent once this transaction commits. A workflow that has ended ignores it. */
export async function signalWorkflow(tx: Tx, { workflowId, signal, args = [] }: WorkflowSignal): Promise<void> {
  await insert(tx, [workflowId, 'signal', signal, JSON.stringify(args), '{}']);
}

async function insert(tx: Tx, values: [string, 'start' | 'signal', string, string, string]): Promise<void> {
  await sql(
    tx,
    `WITH added AS (
       INSERT INTO outbox (workflow_id, kind, name, args, options) VALUES ($1, $2, $3, $4::json, $5::json)
     ) SELECT pg_notify('postroom', 'outbox')::text`,
    values,
  );
}
