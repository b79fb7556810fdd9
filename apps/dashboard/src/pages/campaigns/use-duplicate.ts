import { useClient } from 'urql';
import { useProject } from '../../app/session.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import { useSingleRun } from '../../components/use-single-run.ts';
import type { CampaignRow } from './campaign-row.ts';
import type { Copy } from './copy-campaign.ts';

/** Makes the copy, a plain one if omitted. @returns whether it worked; otherwise a notification says why. */
export type Duplicate = (copy?: Copy) => Promise<boolean>;

/** Duplicates a campaign as a draft and opens it. What makes the copy loads when it is needed, because reports are opened more often. */
export function useDuplicate(campaign: CampaignRow) {
  const { id: projectId } = useProject();
  const client = useClient();
  const navigate = useNavigate();
  const [running, runOnce] = useSingleRun();
  const run: Duplicate = async (copy) => {
    let campaignId: string | undefined;
    await runOnce(async () => {
      campaignId = await (await import('./copy-campaign.ts')).copyCampaign(client, campaign, copy);
    });
    if (campaignId === undefined) return false;
    void navigate({ to: '/p/$projectId/campaigns/$campaignId', params: { projectId, campaignId } });
    return true;
  };
  return { run, running };
}
