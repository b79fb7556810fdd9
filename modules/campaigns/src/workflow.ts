import { startWorkflow, type Tx } from '@postroom/platform';

/** A campaign, as far as its workflow is named after it. */
export interface CampaignRun {
  id: string;
  projectId: string;
  name: string;
  run: number;
}

/**
 * The workflow that sends a campaign now. The first has the campaign's id; one that follows, because the campaign goes on
 * after it was completed or because the one before was lost, has its number behind it.
 */
export const workflowIdOf = ({ id, run }: Pick<CampaignRun, 'id' | 'run'>) => (run === 1 ? id : `${id}-${run}`);

/** Asks for the workflow of a campaign's run, once the transaction commits. */
export async function startSending(tx: Tx, { id, projectId, name, run }: CampaignRun): Promise<void> {
  await startWorkflow(tx, {
    workflowId: workflowIdOf({ id, run }),
    type: 'sendCampaign',
    args: [id, run],
    summary: summaryOf(name),
    searchAttributes: { projectId, campaignId: id },
  });
}

/** One line of at most 200 bytes. */
export function summaryOf(name: string): string {
  const line = `Campaign: ${name.replace(/\s+/g, ' ')}`;
  return Buffer.byteLength(line) <= 200
    ? line
    : `${Buffer.from(line)
        .subarray(0, 190)
        .toString('utf8')
        .replace(/\ufffd+$/, '')} …`;
}
