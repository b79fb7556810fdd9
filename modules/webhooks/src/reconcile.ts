import { logger, pool } from '@postroom/platform';
import { workflowStatus } from '@postroom/platform/dispatcher';
import type { Client } from '@temporalio/client';
import { fail, releaseDeliveries } from './attempts.ts';
import { POLICY } from './policy.ts';

/**
 * Releases deliveries whose workflow no longer runs: a crash came between claim and start, an operator ended it, or
 * Temporal lost its data. A delivery whose own workflow was terminated is failed, because an operator decided that.
 * Returns the number of deliveries handled or failed.
 */
export async function reconcile(client: Client): Promise<number> {
  const { rows } = await pool.query<{ workflow_id: string; ids: string[] }>(
    `SELECT workflow_id, array_agg(id) AS ids FROM deliveries
     WHERE dispatched_at IS NOT NULL AND closed_at IS NULL
       AND next_attempt_at < now() - interval '${POLICY.reconcile.overdue}' AND dispatched_at < now() - interval '${POLICY.reconcile.overdue}'
     GROUP BY workflow_id ORDER BY random() LIMIT ${POLICY.reconcile.workflowsPerRun}`,
  );
  let handled = 0;
  for (let at = 0; at < rows.length; at += POLICY.reconcile.concurrency) {
    const chunk = rows.slice(at, at + POLICY.reconcile.concurrency);
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
