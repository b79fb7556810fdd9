import { inTransaction, logger, pool } from '@postroom/platform';
import type { DispatchSource } from '@postroom/platform/dispatcher';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { pauseOverThreshold } from './send-monitor.ts';
import { type CampaignRun, startSending, workflowIdOf } from './workflow.ts';

const SWEEP_EVERY_MS = 15_000;
/** Campaigns that are looked at in one sweep. */
const AT_ONCE = 200;

/** Counters are looked at so often, for what providers report while nothing is being claimed. */
const WATCH_EVERY_MS = 5_000;

let sweptAt = 0;
let watchedAt = 0;

/** Looks after campaigns that are being sent: those in trouble are paused, those whose workflow is gone get another. */
export const source: DispatchSource = {
  name: 'campaigns',
  handOver: async (client) => {
    if (Date.now() - watchedAt >= WATCH_EVERY_MS) {
      watchedAt = Date.now();
      await pauseOverThreshold(null);
    }
    if (Date.now() - sweptAt < SWEEP_EVERY_MS) return { handed: 0, more: false };
    sweptAt = Date.now();
    return { handed: await reconcile(client), more: false };
  },
};

/** Campaigns that need a workflow and have not only just been given to the relay. */
const OPEN = `
  SELECT c.id, c.project_id AS "projectId", c.name, c.run FROM campaigns c
  WHERE (c.status = 'sending' OR c.status = 'canceled' AND c.recipient_count > c.accepted_count + c.failed_count
      + c.suppressed_count + c.unknown_count + c.canceled_count)
    AND NOT EXISTS (SELECT FROM outbox o WHERE o.workflow_id IN (c.id, c.id || '-' || c.run))
  ORDER BY random() LIMIT ${AT_ONCE}`;

/**
 * Looks for campaigns that are being sent, or canceled with messages still open, whose workflow has ended without them: an
 * operator terminated it, it failed, or Temporal lost its data. Each gets a workflow of its next run. That is safe while
 * the old one's last activity still lives, since the ledger listens to the newest run only.
 * @returns how many there were.
 */
export async function reconcile(client: Client): Promise<number> {
  const { rows } = await pool.query<CampaignRun>(OPEN);
  let restarted = 0;
  for (const campaign of rows) if (!(await isRunning(client, campaign)) && (await restart(campaign))) restarted++;
  if (restarted > 0)
    logger.warn({ campaigns: restarted }, 'the workflows of some campaigns were gone; they have others now');
  return restarted;
}

async function isRunning(client: Client, campaign: CampaignRun): Promise<boolean> {
  try {
    return (await client.workflow.getHandle(workflowIdOf(campaign)).describe()).status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** Several workers may find it at once; the condition of the UPDATE lets one of them start the next run. */
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
