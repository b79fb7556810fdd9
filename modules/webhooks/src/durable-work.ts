import { durableWork, type DurableWork, type OpenWork } from '@postroom/platform/durable-work';
import { failDelivery, releaseDeliveries } from './attempts.ts';
import { POLICY } from './policy.ts';

/** Overdue deliveries that belong to a workflow: a crash came between claim and start, or the workflow is gone. */
const OVERDUE = `
  SELECT workflow_id AS "workflowId", array_agg(id) AS ids FROM deliveries
  WHERE dispatched_at IS NOT NULL AND closed_at IS NULL
    AND next_attempt_at < now() - interval '${POLICY.reconcile.overdue}' AND dispatched_at < now() - interval '${POLICY.reconcile.overdue}'
  GROUP BY workflow_id`;

export const work: readonly DurableWork[] = [
  durableWork<OpenWork & { ids: string[] }>({
    name: 'deliveries',
    workflows: ['deliverWebhook', 'deliverBatch'],
    open: OVERDUE,
    // Released deliveries are dispatched again, under another workflow id. A delivery whose own workflow was terminated is failed,
    // because an operator decided that.
    recover: async (_, { workflowId, ids }, status) => {
      const [first = ''] = ids;
      if (status === 'TERMINATED' && workflowId.startsWith(first)) await failDelivery(first);
      else await releaseDeliveries(ids, { enabled: true });
      return ids.length;
    },
  }),
];
