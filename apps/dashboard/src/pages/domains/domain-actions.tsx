import { Button, Menu } from '@mantine/core';
import { IconCloudUpload, IconExternalLink, IconRefresh, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { Confirm } from '../../components/confirm.tsx';
import { DotsMenu } from '../../components/dots-menu.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import { useApiAction } from '../../components/use-api-action.ts';
import type { Domain } from './domain-row.ts';
import { Publish } from './publish.tsx';

const CHECK = graphql(`
  mutation CheckDomain($id: ID!) {
    checkDomain(id: $id) {
      id
    }
  }
`);

const REMOVE = graphql(`
  mutation RemoveDomain($id: ID!) {
    domainRemove(id: $id) {
      deletedId
    }
  }
`);

/** Domain actions. */
export function DomainActions({ domain }: { domain: Domain }) {
  const canManage = usePermission('manage');
  const [asked, setAsked] = useState<'publish' | 'remove'>();
  const close = () => setAsked(undefined);
  if (!canManage) return null;
  const hasRecords = domain.records.length > 0;
  return (
    <>
      {hasRecords && domain.verification !== 'verified' && (
        <Button
          variant="default"
          leftSection={<IconCloudUpload size={16} aria-hidden />}
          onClick={() => setAsked('publish')}
        >
          Publish records
        </Button>
      )}
      {hasRecords && <CheckNow domain={domain} />}
      <DotsMenu label="More actions">
        {hasRecords && (
          <Menu.Item leftSection={<IconCloudUpload size={16} aria-hidden />} onClick={() => setAsked('publish')}>
            Publish records
          </Menu.Item>
        )}
        {domain.workflowUrl !== null && hasRecords && (
          <Menu.Item
            component="a"
            href={domain.workflowUrl}
            target="_blank"
            rel="noreferrer"
            leftSection={<IconExternalLink size={16} aria-hidden />}
          >
            Open in Temporal
          </Menu.Item>
        )}
        <Menu.Item color="red" leftSection={<IconTrash size={16} aria-hidden />} onClick={() => setAsked('remove')}>
          Remove
        </Menu.Item>
      </DotsMenu>
      <Publish domain={domain} opened={asked === 'publish'} onClose={close} />
      <Remove domain={domain} opened={asked === 'remove'} onClose={close} />
    </>
  );
}

function CheckNow({ domain: { id } }: { domain: Domain }) {
  const check = useApiAction(CHECK);
  const run = async () => {
    if ((await check.run({ id })) === undefined) return;
    notifySuccess('Checking DNS. Results will appear here.');
  };
  return (
    <Button leftSection={<IconRefresh size={16} aria-hidden />} loading={check.running} onClick={() => void run()}>
      Check now
    </Button>
  );
}

function Remove({
  domain: { id, unicodeName },
  opened,
  onClose,
}: {
  domain: Domain;
  opened: boolean;
  onClose: () => void;
}) {
  const { id: projectId } = useProject();
  const remove = useApiMutation(REMOVE);
  const navigate = useNavigate();
  const confirm = async () => {
    if ((await remove.run({ id })) === undefined) return;
    notifySuccess(`${unicodeName} was removed.`);
    void navigate({ to: '/p/$projectId/domains', params: { projectId }, replace: true });
  };
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      title="Remove this domain?"
      action="Remove"
      confirmationText={unicodeName}
      running={remove.running}
      problem={remove.problem}
      onConfirm={() => void confirm()}
    >
      Email from this domain is rejected immediately, including scheduled campaigns. Its DKIM keys are deleted, so
      adding it again requires new DNS records.
    </Confirm>
  );
}
