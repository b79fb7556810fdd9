import { hasShards } from '@postroom/ledger/sql';
import { inTransaction } from '@postroom/platform';
import { durableWork, type DurableWork, type OpenWork, restartWorkflow } from '@postroom/platform/durable-work';
import { type CampaignRun, startSending, timerOf } from './workflow.ts';

/** Open messages: neither sent nor listed as unsent. */
const HAS_OPEN = `recipient_count > accepted_count + failed_count + suppressed_count + unknown_count + canceled_count`;

/**
 * Campaigns that are being sent. A paused one has nothing to do until it is resumed, except to settle what was in flight; a canceled
 * one cancels what is left.
 */
const SENDING = `
  SELECT CASE run WHEN 1 THEN id ELSE id || '-' || run END AS "workflowId", id, project_id AS "projectId", name, run FROM campaigns
  WHERE status IN ('sending', 'paused', 'canceled')
    AND (status = 'sending' OR status = 'canceled' AND ${HAS_OPEN} OR status = 'paused' AND (claimed_count > 0 OR ${hasShards('campaigns')}))`;

/** Timers of campaigns that are due within a minute or overdue. Before that, nobody misses a lost timer. */
const SCHEDULED = `
  SELECT id || '@' || to_char(scheduled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "workflowId",
    id, project_id AS "projectId", name, scheduled_at AS "scheduledAt" FROM campaigns
  WHERE status = 'scheduled' AND scheduled_at < now() + interval '1 minute'`;

interface Scheduled extends OpenWork {
  id: string;
  projectId: string;
  name: string;
  scheduledAt: Date;
}

export const work: readonly DurableWork[] = [
  durableWork<CampaignRun & OpenWork>({
    name: 'campaigns',
    workflows: ['sendCampaign'],
    open: SENDING,
    recover: async (_, campaign) => ((await startNextRun(campaign)) ? 1 : 0),
  }),
  durableWork<Scheduled>({
    name: 'scheduled campaigns',
    workflows: ['scheduleCampaign'],
    open: SCHEDULED,
    recover: restartWorkflow(timerOf),
  }),
];

/**
 * Starts the next run of a campaign. This is safe even while an activity of the old run is alive, because only the newest run can
 * acquire the fencing token. Several workers may find the same campaign; the UPDATE's condition lets one of them start the next run.
 */
async function startNextRun(campaign: CampaignRun): Promise<boolean> {
  return inTransaction(async (client) => {
    const { rowCount } = await client.query(
      `UPDATE campaigns SET run = run + 1 WHERE id = $1 AND run = $2 AND status IN ('sending', 'paused', 'canceled')`,
      [campaign.id, campaign.run],
    );
    if (rowCount === 1) await startSending(client, { ...campaign, run: campaign.run + 1 });
    return rowCount === 1;
  });
}
