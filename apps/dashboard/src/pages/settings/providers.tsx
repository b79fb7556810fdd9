import { Button, Menu, Stack, Text } from '@mantine/core';
import { IconEdit, IconPlugConnected, IconPlus, IconRoute, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { ConnectionStatus } from '../../generated/graphql.ts';
import { StatusBadge, type Tone } from '../../components/badge.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { CopyField } from '../../components/copy.tsx';
import { DotsMenu } from '../../components/dots-menu.tsx';
import { notifySuccess, notifyError } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import { QueryResult, Empty, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { useApiAction } from '../../components/use-api-action.ts';
import { ProviderDialog } from './provider-form.tsx';
import { PROVIDERS, type Provider } from './provider-row.ts';

const TEST = graphql(`
  mutation TestMailProvider($id: ID!) {
    testMailProvider(id: $id) {
      id
      status
    }
  }
`);

const REMOVE = graphql(`
  mutation DeleteMailProvider($id: ID!) {
    mailProviderDelete(id: $id) {
      deletedId
    }
  }
`);

const STATES: Record<ConnectionStatus, { label: string; tone: Tone }> = {
  untested: { label: 'Not tested yet', tone: 'quiet' },
  working: { label: 'Working', tone: 'good' },
  failing: { label: 'Failing', tone: 'bad' },
};

type Asked = { provider: Provider; act: 'edit' | 'remove' };

/** Mail providers: SMTP relays and Amazon SES accounts. */
export function Providers() {
  const providers = useApiQuery(PROVIDERS, {});
  const [adding, setAdding] = useState(false);
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  const add = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setAdding(true)}>
      Add provider
    </Button>
  );
  return (
    <Section
      title="Providers"
      about="Providers are tried in order of position, lowest first. Postroom fails over only when a provider definitely did not accept the message."
      actions={add}
    >
      <QueryResult of={providers} skeleton={<RowsSkeleton rows={2} />}>
        {({ mailProviders }) =>
          mailProviders.length === 0 ? (
            <Empty title="No providers" icon={IconRoute}>
              Email is sent through this installation’s default relay. Add an SMTP relay or Amazon SES to use your own.
            </Empty>
          ) : (
            <DataTable
              label="Providers"
              rows={mailProviders}
              keyOf={({ id }) => id}
              columns={[
                { title: 'Name', cell: (provider) => <Name of={provider} /> },
                { title: 'Sends email for', cell: ({ domain }) => domain ?? 'All other domains', from: 'sm' },
                { title: 'Position', cell: ({ position }) => position, from: 'sm', align: 'right' },
                {
                  title: 'Last tested',
                  cell: ({ checkedAt }) => (checkedAt === null ? 'Never' : <When at={checkedAt} />),
                  from: 'md',
                },
                {
                  title: 'Actions',
                  silent: true,
                  align: 'right',
                  cell: (provider) => <Actions provider={provider} onAsk={(act) => setAsked({ provider, act })} />,
                },
              ]}
            />
          )
        }
      </QueryResult>
      <ProviderDialog opened={adding} onClose={() => setAdding(false)} />
      <ProviderDialog
        opened={asked?.act === 'edit'}
        provider={asked?.act === 'edit' ? asked.provider : undefined}
        onClose={close}
      />
      <Remove of={asked?.act === 'remove' ? asked.provider : undefined} onClose={close} />
    </Section>
  );
}

function Name({ of: provider }: { of: Provider }) {
  const { name, kind, host, port, region, status, statusReason } = provider;
  const { label, tone } = STATES[status];
  return (
    <Stack gap={4}>
      <Text size="sm" fw={550} component="div" className="breakable">
        {name} <StatusBadge tone={tone}>{label}</StatusBadge>
      </Text>
      <Text size="xs" c="dimmed" className="breakable">
        {kind === 'ses' ? `Amazon SES in ${region}` : `${host}:${port}`}
      </Text>
      {statusReason !== null && (
        <Text size="xs" c="var(--mantine-color-error)" className="breakable">
          {statusReason}
        </Text>
      )}
      {provider.notificationUrl !== null && <Events of={provider} url={provider.notificationUrl} />}
    </Stack>
  );
}

/** The SNS webhook URL, or the subscription state. */
function Events({ of: { subscribedAt, notifiedAt }, url }: { of: Provider; url: string }) {
  if (subscribedAt === null) return <CopyField label="Subscribe this URL to the SNS topic" value={url} />;
  return (
    <Text size="xs" c="dimmed">
      {notifiedAt === null ? (
        'Subscribed to events'
      ) : (
        <>
          Last event <When at={notifiedAt} />
        </>
      )}
    </Text>
  );
}

function Actions({ provider: { id, name }, onAsk }: { provider: Provider; onAsk: (act: Asked['act']) => void }) {
  const test = useApiAction(TEST);
  const tryIt = async () => {
    const tested = (await test.run({ id }))?.testMailProvider;
    if (tested === undefined) return;
    if (tested.status === 'working') notifySuccess(`${name} connected successfully.`);
    else notifyError(`${name} failed to connect. See the list for the reason.`);
  };
  return (
    <DotsMenu label={`Actions for ${name}`} small loading={test.running}>
      <Menu.Item leftSection={<IconPlugConnected size={16} aria-hidden />} onClick={() => void tryIt()}>
        Test connection
      </Menu.Item>
      <Menu.Item leftSection={<IconEdit size={16} aria-hidden />} onClick={() => onAsk('edit')}>
        Edit
      </Menu.Item>
      <Menu.Item
        color="var(--mantine-color-error)"
        leftSection={<IconTrash size={16} aria-hidden />}
        onClick={() => onAsk('remove')}
      >
        Remove
      </Menu.Item>
    </DotsMenu>
  );
}

function Remove({ of: provider, onClose }: { of: Provider | undefined; onClose: () => void }) {
  const remove = useApiMutation(REMOVE);
  const confirm = async () => {
    if (provider === undefined || (await remove.run({ id: provider.id })) === undefined) return;
    notifySuccess(`${provider.name} was removed.`);
    onClose();
  };
  return (
    <Confirm
      opened={provider !== undefined}
      onClose={onClose}
      title="Remove this provider?"
      action="Remove"
      confirmationText={provider?.name ?? ''}
      running={remove.running}
      problem={remove.problem}
      onConfirm={() => void confirm()}
    >
      Email is sent through the remaining providers or this installation’s default relay. Its password or keys are
      deleted.
    </Confirm>
  );
}
