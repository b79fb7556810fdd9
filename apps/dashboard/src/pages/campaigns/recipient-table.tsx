import { Code, Stack, Text } from '@mantine/core';
import { useProject } from '../../app/session.tsx';
import type { RecipientsQuery } from '../../generated/graphql.ts';
import { StatusBadge, type Tone } from '../../components/badge.tsx';
import { RowLink } from '../../components/link.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { STATUS_LABELS as EMAIL_LABELS } from '../emails/email-status.tsx';
import { RECIPIENT_LABELS } from './campaign-labels.ts';
import { BOUNCE_LABELS } from './recipient-labels.ts';

type Recipient = RecipientsQuery['campaignRecipients']['nodes'][number];

/** Recipients with their status, the latest event and the server's reply. */
export function RecipientTable({ recipients }: { recipients: Recipient[] }) {
  const { id: projectId } = useProject();
  return (
    <DataTable
      label="Recipients"
      rows={recipients}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Address',
          cell: ({ email, contactId }) => (
            <RowLink to="/p/$projectId/contacts/$contactId" params={{ projectId, contactId }}>
              {email}
            </RowLink>
          ),
        },
        { title: 'Status', width: 130, cell: (recipient) => <Status recipient={recipient} /> },
        {
          title: 'Last event',
          from: 'sm',
          cell: (recipient) => <LastEvent recipient={recipient} />,
        },
        {
          title: 'Response',
          from: 'md',
          cell: (recipient) => <ServerResponse recipient={recipient} />,
        },
      ]}
    />
  );
}

function Status({ recipient }: { recipient: Recipient }) {
  const [tone, label] = badgeOf(recipient);
  return <StatusBadge tone={tone}>{label}</StatusBadge>;
}

/** What was reported since counts more than that it was sent. */
function badgeOf({ state, status, deferrals }: Recipient): [tone: Tone, label: string] {
  if (state === 'accepted') {
    const [tone, label] = EMAIL_LABELS[status];
    return [tone, label];
  }
  if (state === 'planned' && deferrals > 0) return ['warn', 'Deferred'];
  return [RECIPIENT_LABELS[state].tone, RECIPIENT_LABELS[state].label];
}

/** The latest event of a message. */
function LastEvent({ recipient }: { recipient: Recipient }) {
  const facts: [string, string | null][] = [
    ['Complained', recipient.complainedAt],
    ['Unsubscribed, then subscribed again', recipient.resubscribedAt],
    ['Unsubscribed', recipient.unsubscribedAt],
    ['Bounced', recipient.bouncedAt],
    ['Rejected', recipient.rejectedAt],
    ['Clicked', recipient.clickedAt],
    ['Opened', recipient.openedAt],
    ['Clicked by a bot', recipient.clickedByMachinesAt],
    ['Opened by a bot', recipient.openedByMachinesAt],
    ['Delivered', recipient.deliveredAt],
    ['Sent', recipient.acceptedAt],
    [recipient.claimedAt === null ? 'Scheduled' : 'Retries', recipient.notBefore],
    ['Ended', recipient.unsentAt],
  ];
  const [label, at] = facts.find(([, time]) => time !== null) ?? ['', null];
  if (at === null) return <>–</>;
  return (
    <>
      {label} <When at={at} />
    </>
  );
}

function ServerResponse({ recipient: { answer, deferrals, bounceClass, bounceReason } }: { recipient: Recipient }) {
  const response = bounceReason ?? answer;
  if (response === null && bounceClass === null) return <>–</>;
  return (
    <Stack gap={2}>
      {bounceClass !== null && <Text size="sm">{BOUNCE_LABELS[bounceClass].label}</Text>}
      {response !== null && <Code className="breakable">{response}</Code>}
      {deferrals > 0 && (
        <Text size="sm" c="dimmed">
          Deferred {deferrals === 1 ? 'once' : `${deferrals} times`}
        </Text>
      )}
    </Stack>
  );
}
