import { useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { MoreMenu } from '../../components/more-menu.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import type { CampaignRow } from './campaign-row.ts';
import { useDuplicate } from './use-duplicate.ts';

const DELETE = graphql(`
  mutation DeleteCampaign($id: ID!) {
    campaignDelete(id: $id) {
      deletedId
    }
  }
`);

/** The campaign menu: duplicate any campaign, delete drafts. */
export function CampaignMenu({ campaign }: { campaign: CampaignRow }) {
  const { id, name, status, abTestId } = campaign;
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const remove = useApiMutation(DELETE);
  const duplicate = useDuplicate(campaign);
  const confirm = async () => {
    if ((await remove.run({ id })) === undefined) return;
    notifySuccess(`${name} was deleted.`);
    void navigate({ to: '/p/$projectId/campaigns', params: { projectId }, ignoreBlocker: true, replace: true });
  };
  return (
    <MoreMenu
      name={name}
      duplicate={{ run: () => void duplicate.run(), running: duplicate.running }}
      {...(status === 'draft' &&
        abTestId === null && {
          remove: {
            title: 'Delete this draft?',
            about: 'Its content will be lost.',
            run: () => void confirm(),
            running: remove.running,
            problem: remove.problem,
          },
        })}
    />
  );
}
