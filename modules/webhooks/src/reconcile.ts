import { pool } from '@postroom/platform';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { fail, releaseDeliveries } from './attempts.ts';

/** A delivery in hand whose next attempt is overdue by more than an attempt takes is looked after. */
const OVERDUE = '15 seconds';

/** Workflows asked about in one sweep, chosen by chance, so that many that live do not hide one that is gone. */
const WORKFLOWS = 200;
const AT_ONCE = 10;

/**
 * Looks for deliveries whose workflow is gone, because a crash came between mark and start, an operator ended it, or
 * Temporal lost its data, and lets them be handed over again. One whose own workflow was terminated is failed: that was
 * somebody's word. Returns how many it found.
 */
export async function reconcile(client: Client): Promise<number> {
  const { rows } = await pool.query<{ workflow_id: string; ids: string[] }>(
    `SELECT workflow_id, array_agg(id) AS ids FROM deliveries
     WHERE dispatched_at IS NOT NULL AND closed_at IS NULL
       AND next_attempt_at < now() - interval '${OVERDUE}' AND dispatched_at < now() - interval '${OVERDUE}'
     GROUP BY workflow_id ORDER BY random() LIMIT ${WORKFLOWS}`,
  );
  let found = 0;
  for (let at = 0; at < rows.length; at += AT_ONCE) {
    const some = rows.slice(at, at + AT_ONCE);
    const counts = await Promise.all(some.map(({ workflow_id, ids }) => reconcileWorkflow(client, workflow_id, ids)));
    found += counts.reduce((sum, count) => sum + count, 0);
  }
  return found;
}

async function reconcileWorkflow(client: Client, workflowId: string, deliveryIds: string[]): Promise<number> {
  const status = await statusOf(client, workflowId);
  if (status === 'RUNNING') return 0;
  const [first = ''] = deliveryIds;
  if (status === 'TERMINATED' && workflowId.startsWith(first)) await fail(first);
  else await releaseDeliveries(deliveryIds, { enabled: true });
  return deliveryIds.length;
}

async function statusOf(client: Client, workflowId: string): Promise<string> {
  try {
    return (await client.workflow.getHandle(workflowId).describe()).status.name;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'NOT_FOUND';
    throw error;
  }
}
