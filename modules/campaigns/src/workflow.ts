import { startWorkflow, type Tx, type WorkflowStart } from '@postroom/platform';

/** The parts of a campaign that name and describe its workflow. */
export interface CampaignRun {
  id: string;
  projectId: string;
  name: string;
  run: number;
}

/**
 * The id of the workflow for a campaign's current run. The first run uses the campaign's id. Later runs, started after a retry
 * or after a workflow was lost, append the run number.
 */
export const workflowIdOf = ({ id, run }: Pick<CampaignRun, 'id' | 'run'>) => (run === 1 ? id : `${id}-${run}`);

/** Starts the workflow of a campaign's run once the transaction commits. */
export async function startSending(tx: Tx, { id, projectId, name, run }: CampaignRun): Promise<void> {
  await startWorkflow(tx, {
    workflowId: workflowIdOf({ id, run }),
    type: 'sendCampaign',
    args: [id, run],
    summary: summaryOf(name),
    searchAttributes: { projectId, campaignId: id },
  });
}

/**
 * The timer of a scheduled campaign; each scheduled time has its own. It does nothing if the campaign has been rescheduled, or if another
 * timer for the same time was first.
 */
export function timerOf(campaign: Omit<CampaignRun, 'run'> & { scheduledAt: Date }): WorkflowStart {
  const { id, projectId, name } = campaign;
  const scheduledAt = campaign.scheduledAt.toISOString();
  return {
    workflowId: `${id}@${scheduledAt}`,
    type: 'scheduleCampaign',
    args: [id, scheduledAt],
    summary: summaryOf(name),
    searchAttributes: { projectId, campaignId: id },
    restartable: true,
  };
}

/** A one-line workflow summary. Temporal limits it to 200 bytes. */
function summaryOf(name: string): string {
  const line = `Campaign: ${name.replace(/\s+/g, ' ')}`;
  return Buffer.byteLength(line) <= 200
    ? line
    : `${Buffer.from(line)
        .subarray(0, 190)
        .toString('utf8')
        .replace(/\ufffd+$/, '')} …`;
}
