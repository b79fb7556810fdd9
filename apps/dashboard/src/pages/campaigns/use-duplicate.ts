import { useClient } from 'urql';
import { useProject } from '../../app/session.tsx';
import { graphql } from '../../generated/gql.ts';
import { notifySuccess } from '../../components/notify.tsx';
import { useApiAction } from '../../components/use-api-action.ts';
import { useNavigate } from '../../components/use-navigate.ts';
import type { CampaignRow } from './campaign-row.ts';
import type { Copy } from './copy-campaign.ts';

const DUPLICATE = graphql(`
  mutation DuplicateCampaign($input: CreateCampaignInput!) {
    createCampaign(input: $input) {
      id
    }
  }
`);

const PLAIN: Copy = { suffix: '(copy)', message: 'Duplicated. You are editing the copy.' };

/** Duplicates a campaign as a draft and opens it. */
export function useDuplicate(campaign: CampaignRow) {
  const { id: projectId } = useProject();
  const client = useClient();
  const navigate = useNavigate();
  const create = useApiAction(DUPLICATE);
  /** @returns whether it worked; otherwise a notification says why. */
  const run = async (copy = PLAIN): Promise<boolean> => {
    const { copyOf } = await import('./copy-campaign.ts');
    const { input, message } = await copyOf(client, campaign, copy);
    const data = await create.run({ input });
    if (data === undefined) return false;
    notifySuccess(message);
    void navigate({
      to: '/p/$projectId/campaigns/$campaignId',
      params: { projectId, campaignId: data.createCampaign.id },
    });
    return true;
  };
  return { run, running: create.running };
}
