import { Button, Menu, Stack, Text } from '@mantine/core';
import { IconAt, IconEdit, IconExternalLink, IconPlugConnected, IconPlus, IconTrash } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { usePermission } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { refresh } from '../../data/refresh.ts';
import { graphql } from '../../generated/gql.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { DotsMenu } from '../../components/dots-menu.tsx';
import { notifySuccess, notifyError } from '../../components/notify.tsx';
import { Page } from '../../components/page.tsx';
import { QueryResult, Empty, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { useApiAction } from '../../components/use-api-action.ts';
import { ConnectMailbox } from './connect-mailbox.tsx';
import { Consent, type PendingAuthorization } from './consent.tsx';
import { EditMailbox } from './edit-mailbox.tsx';
import { MAILBOX_PROVIDERS, MAILBOX_STATES } from './mailbox-labels.ts';
import { MAILBOXES, type Mailbox } from './mailbox-row.ts';

const TEST = graphql(`
  mutation TestMailbox($id: ID!) {
    testMailbox(id: $id) {
      id
      status
      statusReason
    }
  }
`);

const AUTHORIZE = graphql(`
  mutation AuthorizeMailbox($id: ID!) {
    authorizeMailbox(id: $id) {
      authorizationUrl
    }
  }
`);

const DISCONNECT = graphql(`
  mutation DisconnectMailbox($id: ID!) {
    mailboxDisconnect(id: $id) {
      deletedId
    }
  }
`);

/** The mailbox account list. */
export function Mailboxes() {
  const mailboxes = useApiQuery(MAILBOXES, {});
  const canManage = usePermission('manage');
  const [connecting, setConnecting] = useState(false);
  useReadOnReturn();
  const connect = canManage && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setConnecting(true)}>
      Connect mailbox
    </Button>
  );
  return (
    <Page
      title="Mailbox accounts"
      about="Email from a connected mailbox’s address is sent through the mailbox’s own server."
      actions={connect}
    >
      <QueryResult of={mailboxes} skeleton={<RowsSkeleton rows={3} />}>
        {({ mailboxAccounts }) =>
          mailboxAccounts.length === 0 ? (
            <Empty title="No mailboxes yet" icon={IconAt} action={connect}>
              Best for small lists and personal senders. The address does not need a verified domain.
            </Empty>
          ) : (
            <MailboxTable mailboxes={mailboxAccounts} />
          )
        }
      </QueryResult>
      <ConnectMailbox
        opened={connecting}
        mailboxes={mailboxes.data?.mailboxAccounts ?? []}
        onClose={() => setConnecting(false)}
      />
    </Page>
  );
}

/** Authorization happens in another tab; refetches when the user returns. */
function useReadOnReturn(): void {
  useEffect(() => {
    const look = () => document.visibilityState === 'visible' && refresh();
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
}

type Asked = { mailbox: Mailbox; act: 'edit' | 'disconnect' };

function MailboxTable({ mailboxes }: { mailboxes: Mailbox[] }) {
  const canManage = usePermission('manage');
  const [asked, setAsked] = useState<Asked>();
  const [consenting, setConsenting] = useState<PendingAuthorization>();
  const close = () => setAsked(undefined);
  return (
    <>
      <DataTable
        label="Mailbox accounts"
        rows={mailboxes}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Mailbox', cell: (mailbox) => <Who of={mailbox} /> },
          { title: 'Sent in 24 hours', cell: (mailbox) => <Used of={mailbox} />, from: 'sm' },
          { title: 'Per minute', cell: ({ perMinute }) => `up to ${perMinute.toLocaleString()}`, from: 'md' },
          {
            title: 'Last checked',
            cell: ({ checkedAt }) => (checkedAt === null ? 'Never' : <When at={checkedAt} />),
            from: 'md',
          },
          {
            title: 'Actions',
            silent: true,
            align: 'right',
            cell: (mailbox) =>
              canManage && (
                <Actions
                  mailbox={mailbox}
                  onAsk={(act) => setAsked({ mailbox, act })}
                  onConsent={(url) => setConsenting({ email: mailbox.email, url })}
                />
              ),
          },
        ]}
      />
      <EditMailbox of={asked?.act === 'edit' ? asked.mailbox : undefined} onClose={close} />
      <Disconnect of={asked?.act === 'disconnect' ? asked.mailbox : undefined} onClose={close} />
      <Consent of={consenting} onClose={() => setConsenting(undefined)} />
    </>
  );
}

function Who({ of: { email, provider, signIn, host, status, statusReason } }: { of: Mailbox }) {
  const { label, tone } = MAILBOX_STATES[status];
  return (
    <Stack gap={4}>
      <Text size="sm" fw={550} component="div" className="breakable">
        {email} <StatusBadge tone={tone}>{label}</StatusBadge>
      </Text>
      <Text size="xs" c="dimmed" className="breakable">
        {provider === 'other' ? host : MAILBOX_PROVIDERS[provider].label}, {signIn === 'oauth2' ? 'OAuth2' : 'password'}
      </Text>
      {statusReason !== null && (
        <Text size="xs" c="var(--mantine-color-error)" className="breakable">
          {statusReason}
        </Text>
      )}
    </Stack>
  );
}

const Used = ({ of: { sentToday, dailyCap } }: { of: Mailbox }) => (
  <span className="tabular">
    {sentToday.toLocaleString()} of {dailyCap.toLocaleString()}
  </span>
);

function Actions({
  mailbox: { id, email, signIn, status },
  onAsk,
  onConsent,
}: {
  mailbox: Mailbox;
  onAsk: (act: Asked['act']) => void;
  onConsent: (url: string) => void;
}) {
  const test = useApiAction(TEST);
  const authorize = useApiAction(AUTHORIZE);
  const tryIt = async () => {
    const tested = (await test.run({ id }))?.testMailbox;
    if (tested === undefined) return;
    if (tested.status === 'connected') return notifySuccess(`Connection to ${email} successful.`);
    notifyError(`Connection to ${email} failed. See the list for the reason.`);
  };
  const askForConsent = async () => {
    const authorized = (await authorize.run({ id }))?.authorizeMailbox;
    if (authorized === undefined) return;
    if (authorized.authorizationUrl === null) return notifyError('Authorization could not be started. Try again.');
    onConsent(authorized.authorizationUrl);
  };
  return (
    <DotsMenu label={`Actions for ${email}`} small loading={test.running}>
      {status !== 'connecting' && (
        <Menu.Item leftSection={<IconPlugConnected size={16} aria-hidden />} onClick={() => void tryIt()}>
          Test
        </Menu.Item>
      )}
      {signIn === 'oauth2' && (
        <Menu.Item leftSection={<IconExternalLink size={16} aria-hidden />} onClick={() => void askForConsent()}>
          Authorize
        </Menu.Item>
      )}
      <Menu.Item leftSection={<IconEdit size={16} aria-hidden />} onClick={() => onAsk('edit')}>
        Edit
      </Menu.Item>
      <Menu.Item
        color="var(--mantine-color-error)"
        leftSection={<IconTrash size={16} aria-hidden />}
        onClick={() => onAsk('disconnect')}
      >
        Disconnect
      </Menu.Item>
    </DotsMenu>
  );
}

function Disconnect({ of: mailbox, onClose }: { of: Mailbox | undefined; onClose: () => void }) {
  const disconnect = useApiMutation(DISCONNECT);
  const confirm = async () => {
    if (mailbox === undefined || (await disconnect.run({ id: mailbox.id })) === undefined) return;
    notifySuccess(`${mailbox.email} was disconnected.`);
    onClose();
  };
  return (
    <Confirm
      opened={mailbox !== undefined}
      onClose={onClose}
      title="Disconnect this mailbox?"
      action="Disconnect"
      confirmationText={mailbox?.email ?? ''}
      running={disconnect.running}
      problem={disconnect.problem}
      onConfirm={() => void confirm()}
    >
      Pending email from it is canceled and campaigns that use it are paused. Its password or tokens are deleted.
    </Confirm>
  );
}
