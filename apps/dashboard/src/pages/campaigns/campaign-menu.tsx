import { Button, Menu } from '@mantine/core';
import { IconCopy, IconDots, IconTrash } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useProject } from '../../app/session.tsx';
import { useChange } from '../../data/change.ts';
import { graphql } from '../../generated/gql.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { tell } from '../../parts/notify.tsx';
import type { CampaignRow } from './campaign.tsx';
import { useDuplicate } from './use-duplicate.ts';

const DELETE = graphql(`
  mutation DeleteCampaign($id: ID!) {
    deleteCampaign(id: $id)
  }
`);

/** What else can be done with a campaign: any can be written once more, a draft be deleted. */
export function CampaignMenu({ campaign }: { campaign: CampaignRow }) {
  const { id, name, status } = campaign;
  const [deleting, setDeleting] = useState(false);
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const remove = useChange(DELETE);
  const duplicate = useDuplicate(campaign);
  const confirm = async () => {
    if ((await remove.run({ id })) === undefined) return;
    tell(`${name} was deleted.`);
    void navigate({ to: '/p/$projectId/campaigns', params: { projectId }, ignoreBlocker: true });
  };
  return (
    <>
      <Menu>
        <Menu.Target>
          <Button variant="default" px={9} aria-label={`More for ${name}`} loading={duplicate.running}>
            <IconDots size={18} aria-hidden />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconCopy size={16} aria-hidden />} onClick={() => void duplicate.run()}>
            Duplicate
          </Menu.Item>
          {status === 'draft' && (
            <Menu.Item
              color="var(--mantine-color-error)"
              leftSection={<IconTrash size={16} aria-hidden />}
              onClick={() => setDeleting(true)}
            >
              Delete
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <Confirm
        opened={deleting}
        onClose={() => setDeleting(false)}
        title="Delete this draft?"
        action="Delete"
        word={name}
        running={remove.running}
        problem={remove.problem}
        onConfirm={() => void confirm()}
      >
        What was written in it is lost.
      </Confirm>
    </>
  );
}
