import { inTransaction, logger, pool } from '@postroom/platform';
import { type DispatchSource, workflowStatus } from '@postroom/platform/dispatcher';
import type { Client } from '@temporalio/client';
import { pauseOverThreshold } from './send-monitor.ts';
import { type CampaignRun, startSending, workflowIdOf } from './workflow.ts';
import { MAIL_POLICY } from '@postroom/ledger';

/** Pauses campaigns over a threshold, and restarts the workflows of campaigns that have lost theirs. */
export const source: DispatchSource = {
  name: 'campaigns',
  tasks: [
    { intervalMs: MAIL_POLICY.campaign.monitorIntervalMs, run: () => pauseOverThreshold(null) },
    { intervalMs: MAIL_POLICY.campaign.reconcileIntervalMs, run: reconcile },
  ],
};

/** Campaigns that need a workflow and have no start or signal pending in the outbox. */
const OPEN = `
  SELECT c.id, c.project_id AS "projectId", c.name, c.run FROM campaigns c
  WHERE (c.status = 'sending' OR c.status = 'canceled' AND c.recipient_count > c.accepted_count + c.failed_count
      + c.suppressed_count + c.unknown_count + c.canceled_count)
    AND NOT EXISTS (SELECT FROM outbox o WHERE o.workflow_id IN (c.id, c.id || '-' || c.run))
  ORDER BY random() LIMIT ${MAIL_POLICY.campaign.maxReconciled}`;

/**
 * Starts a new run for each campaign that is sending, or canceled with open messages, but has no running workflow: an operator
 * terminated it, it failed, or Temporal lost its data. This is safe even while an activity of the old run is alive, because
 * only the newest run can acquire the fencing token.
 * @returns the number of campaigns restarted.
 */
export async function reconcile(client: Client): Promise<number> {
  const { rows } = await pool.query<CampaignRun>(OPEN);
  let restarted = 0;
  for (const campaign of rows) if (!(await isRunning(client, campaign)) && (await restart(campaign))) restarted++;
  if (restarted > 0) logger.warn({ campaigns: restarted }, 'restarted campaigns without a running workflow');
  return restarted;
}

async function isRunning(client: Client, campaign: CampaignRun): Promise<boolean> {
  return (await workflowStatus(client, workflowIdOf(campaign))) === 'RUNNING';
}

/** Several workers may find the same campaign; the UPDATE's condition lets one of them start the next run. */
async function restart(campaign: CampaignRun): Promise<boolean> {
  return inTransaction(async (client) => {
    const { rowCount } = await client.query(
      `UPDATE campaigns SET run = run + 1 WHERE id = $1 AND run = $2 AND status IN ('sending', 'canceled')`,
      [campaign.id, campaign.run],
    );
    if (rowCount === 1) await startSending(client, { ...campaign, run: campaign.run + 1 });
    return rowCount === 1;
  });
}
