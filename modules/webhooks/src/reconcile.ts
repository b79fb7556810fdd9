import { logger, pool } from '@postroom/platform';
import { workflowStatus } from '@postroom/platform/dispatcher';
import type { Client } from '@temporalio/client';
import { fail, releaseDeliveries } from './attempts.ts';

/** Deliveries whose next attempt is overdue by more than one attempt can take are checked. */
const OVERDUE = '15 seconds';

/** Workflows checked per run, picked at random so that many live ones cannot hide a lost one. */
const WORKFLOWS_PER_RUN = 200;
const CONCURRENCY = 10;

/**
 * Releases deliveries whose workflow no longer runs: a crash came between claim and start, an operator ended it, or
 * Temporal lost its data. A delivery whose own workflow was terminated is failed, because an operator decided that.
 * Returns the number of deliveries handled or failed.
 */
export async function reconcile(client: Client): Promise<number> {
  const { rows } = await pool.query<{ workflow_id: string; ids: string[] }>(
    `SELECT workflow_id, array_agg(id) AS ids FROM deliveries
     WHERE dispatched_at IS NOT NULL AND closed_at IS NULL
       AND next_attempt_at < now() - interval '${OVERDUE}' AND dispatched_at < now() - interval '${OVERDUE}'
     GROUP BY workflow_id ORDER BY random() LIMIT ${WORKFLOWS_PER_RUN}`,
  );
  let handled = 0;
  for (let at = 0; at < rows.length; at += CONCURRENCY) {
    const chunk = rows.slice(at, at + CONCURRENCY);
    const counts = await Promise.all(chunk.map(({ workflow_id, ids }) => reconcileWorkflow(client, workflow_id, ids)));
    handled += counts.reduce((sum, count) => sum + count, 0);
  }
  if (handled > 0) logger.warn({ deliveries: handled }, 'deliveries had lost their workflow; requeued');
  return handled;
}

async function reconcileWorkflow(client: Client, workflowId: string, deliveryIds: string[]): Promise<number> {
  const status = await workflowStatus(client, workflowId);
  if (status === 'RUNNING') return 0;
  const [first = ''] = deliveryIds;
  if (status === 'TERMINATED' && workflowId.startsWith(first)) await fail(first);
  else await releaseDeliveries(deliveryIds, { enabled: true });
  return deliveryIds.length;
}
