import { cancelPlanned, checkNotHeld, ledgerPool, MAIL_POLICY, settleStaleClaims, newClaim } from '@postroom/ledger';
import { assignTo } from '@postroom/ledger/sql';
import { newId } from '@postroom/platform';
import { startOnce } from '@postroom/platform/dispatcher';
import { durableWork, type DurableWork, type OpenWork } from '@postroom/platform/durable-work';
import type { Client, WorkflowExecutionStatusName } from '@temporalio/client';
import { type Batch, startOf } from './dispatcher.ts';

/** Messages that were assigned to a workflow some time ago and are still open. */
const ASSIGNED = `
  SELECT workflow_id AS "workflowId", workflow_id, min(project_id) AS project_id, count(*)::int AS messages FROM messages
  WHERE workflow_id IS NOT NULL AND dispatched_at < now() - interval '${MAIL_POLICY.dispatch.reconcileAfter}' AND campaign_id IS NULL
  GROUP BY workflow_id`;

/** The mail of a queue drain is recovered by `sendEmails`; what was only queued is drained again once the drain's lease has expired. */
export const work: readonly DurableWork[] = [
  durableWork<Batch & OpenWork>({
    name: 'emails',
    workflows: ['sendEmails', 'sendBurst'],
    open: ASSIGNED,
    recover,
    confirm: ({ workflowId }) => reassign(workflowId, workflowId),
  }),
];

/** Assigns messages to a new workflow. If an operator ended theirs, they are canceled. */
async function recover(client: Client, batch: Batch, status: WorkflowExecutionStatusName | undefined): Promise<number> {
  const { workflow_id: workflowId, messages } = batch;
  await checkNotHeld();
  if (status === 'TERMINATED' || status === 'CANCELLED') {
    await settleStaleClaims({ workflowId }, newClaim());
    await cancelPlanned('workflow_id = $1', workflowId, 'Canceled because an operator ended its workflow.');
    return messages;
  }
  // A workflow that never started keeps its id; the id of one that has ended can't be reused.
  const next = status === undefined ? workflowId : newId('eml');
  await reassign(workflowId, next);
  await startOnce(client, startOf({ ...batch, workflow_id: next }));
  return messages;
}

async function reassign(from: string, to: string): Promise<void> {
  await ledgerPool.query(`${assignTo('$2')} WHERE workflow_id = $1`, [from, to]);
}
