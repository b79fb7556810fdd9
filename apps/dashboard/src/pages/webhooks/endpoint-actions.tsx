import { Button, Menu, Radio, Stack, Text } from '@mantine/core';
import { IconPencil, IconPlayerPause, IconSend, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import type { WebhookBacklog } from '../../generated/graphql.ts';
import { Confirm } from '../../components/confirm.tsx';
import { DotsMenu } from '../../components/dots-menu.tsx';
import { MenuLink } from '../../components/menu-link.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import { useApiAction } from '../../components/use-api-action.ts';
import type { Endpoint } from './endpoint-row.ts';

const SEND_TEST = graphql(`
  mutation SendTest($id: ID!) {
    sendTestWebhook(id: $id) {
      deliveryId
    }
  }
`);

const ENABLE = graphql(`
  mutation EnableEndpoint($id: ID!, $backlog: WebhookBacklog!) {
    enableWebhookEndpoint(id: $id, backlog: $backlog) {
      id
    }
  }
`);

const DISABLE = graphql(`
  mutation DisableEndpoint($id: ID!) {
    disableWebhookEndpoint(id: $id) {
      id
    }
  }
`);

const DELETE = graphql(`
  mutation DeleteEndpoint($id: ID!) {
    webhookEndpointDelete(id: $id) {
      deletedId
    }
  }
`);

type Asked = 'enable' | 'disable' | 'delete';

/** Endpoint actions. */
export function EndpointActions({ endpoint }: { endpoint: Endpoint }) {
  const canWrite = usePermission('write');
  const canManage = usePermission('manage');
  const { id: projectId } = useProject();
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  if (!canWrite) return null;
  return (
    <>
      {endpoint.enabled ? (
        <SendTest endpoint={endpoint} />
      ) : (
        canManage && <Button onClick={() => setAsked('enable')}>Enable</Button>
      )}
      <DotsMenu label="More actions">
        <MenuLink
          to="/p/$projectId/webhooks/$endpointId/edit"
          params={{ projectId, endpointId: endpoint.id }}
          leftSection={<IconPencil size={16} aria-hidden />}
        >
          Edit
        </MenuLink>
        {endpoint.enabled && canManage && (
          <Menu.Item leftSection={<IconPlayerPause size={16} aria-hidden />} onClick={() => setAsked('disable')}>
            Disable
          </Menu.Item>
        )}
        <Menu.Item color="red" leftSection={<IconTrash size={16} aria-hidden />} onClick={() => setAsked('delete')}>
          Delete
        </Menu.Item>
      </DotsMenu>
      <Enable endpoint={endpoint} opened={asked === 'enable'} onClose={close} />
      <Disable endpoint={endpoint} opened={asked === 'disable'} onClose={close} />
      <Delete endpoint={endpoint} opened={asked === 'delete'} onClose={close} />
    </>
  );
}

function SendTest({ endpoint: { id } }: { endpoint: Endpoint }) {
  const send = useApiAction(SEND_TEST);
  const run = async () => {
    if ((await send.run({ id })) !== undefined) notifySuccess('Test event created. Its delivery is listed below.');
  };
  return (
    <Button
      variant="default"
      leftSection={<IconSend size={16} aria-hidden />}
      loading={send.running}
      onClick={() => void run()}
    >
      Send test event
    </Button>
  );
}

interface AskProps {
  endpoint: Endpoint;
  opened: boolean;
  onClose: () => void;
}

function Enable({ endpoint: { id }, opened, onClose }: AskProps) {
  const enable = useApiMutation(ENABLE);
  const [backlog, setBacklog] = useState<WebhookBacklog>('deliver');
  const confirm = async () => {
    if ((await enable.run({ id, backlog })) === undefined) return;
    notifySuccess('Endpoint enabled.');
    onClose();
  };
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      title="Enable this endpoint?"
      action="Enable"
      harmless
      running={enable.running}
      problem={enable.problem}
      onConfirm={() => void confirm()}
    >
      <Radio.Group
        label="Events queued while disabled"
        value={backlog}
        onChange={(value) => setBacklog(value as WebhookBacklog)}
      >
        <Stack gap="xs" mt="xs">
          <Radio value="deliver" label="Deliver now" />
          <Radio value="drop" label="Discard" description="Marks them as failed. You can still replay them." />
        </Stack>
      </Radio.Group>
    </Confirm>
  );
}

function Disable({ endpoint: { id }, opened, onClose }: AskProps) {
  const disable = useApiMutation(DISABLE);
  const confirm = async () => {
    if ((await disable.run({ id })) === undefined) return;
    notifySuccess('Endpoint disabled.');
    onClose();
  };
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      title="Disable this endpoint?"
      action="Disable"
      running={disable.running}
      problem={disable.problem}
      onConfirm={() => void confirm()}
    >
      <Text size="sm">No events are delivered until you enable it again. Queued events are kept.</Text>
    </Confirm>
  );
}

function Delete({ endpoint: { id, url }, opened, onClose }: AskProps) {
  const { id: projectId } = useProject();
  const remove = useApiMutation(DELETE);
  const navigate = useNavigate();
  const confirm = async () => {
    if ((await remove.run({ id })) === undefined) return;
    notifySuccess('Endpoint deleted.');
    void navigate({ to: '/p/$projectId/webhooks', params: { projectId }, replace: true });
  };
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      title="Delete this endpoint?"
      action="Delete"
      confirmationText={url}
      running={remove.running}
      problem={remove.problem}
      onConfirm={() => void confirm()}
    >
      Its deliveries and attempts are deleted too. This cannot be undone.
    </Confirm>
  );
}
