import { Code, Group, Select, Stack, Text } from '@mantine/core';
import { IconSearchOff } from '@tabler/icons-react';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useProject } from '../../app/session.tsx';
import { cursorOf } from '../../data/paging.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { RecipientsQuery } from '../../generated/graphql.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { ButtonLink, TextLink } from '../../components/link.tsx';
import { BackLabel, Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { SearchBox } from '../../components/search-box.tsx';
import { QueryResult, Empty, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { RECIPIENT_WORDS } from './campaign-labels.ts';

const RECIPIENTS = graphql(`
  query Recipients($id: ID!, $after: String, $state: RecipientState, $email: String) {
    campaign(id: $id) {
      id
      name
      recipientsDeletedAt
    }
    campaignRecipients(id: $id, first: 50, after: $after, state: $state, email: $email) {
      nodes {
        id: messageId
        contactId
        email
        state
        answer
        deferrals
        notBefore
        acceptedAt
        deliveredAt
        openedAt
        clickedAt
        bouncedAt
        complainedAt
        unsubscribedAt
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

type Recipient = RecipientsQuery['campaignRecipients']['nodes'][number];

/** A campaign's recipients with their status and reason. */
export function Recipients() {
  const { campaignId } = useParams({ from: '/auth/p/$projectId/campaigns/$campaignId/recipients' });
  const search = useSearch({ from: '/auth/p/$projectId/campaigns/$campaignId/recipients' });
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const { state, email } = search;
  const recipients = useApiQuery(RECIPIENTS, {
    id: campaignId,
    after: cursorOf(search) ?? null,
    state: state ?? null,
    email: email ?? null,
  });
  const change = (part: Record<string, string | null | undefined>) => {
    const next = Object.entries({ state, email, ...part }).filter(([, value]) => value != null);
    void navigate({ to: '.', search: Object.fromEntries(next) as never, replace: true });
  };
  return (
    <Page
      title="Recipients"
      about={
        state === undefined
          ? 'Everyone in the recipient snapshot taken when the campaign started.'
          : RECIPIENT_WORDS[state].meaning
      }
      back={
        <TextLink to="/p/$projectId/campaigns/$campaignId" params={{ projectId, campaignId }} size="sm">
          <BackLabel>{recipients.data?.campaign.name ?? 'Campaign'}</BackLabel>
        </TextLink>
      }
    >
      <Stack gap="sm">
        <Group gap="xs">
          <SearchBox value={email ?? ''} label="Full address" onSearch={(next) => change({ email: next })} />
          <Select
            aria-label="State"
            placeholder="Any state"
            clearable
            w={170}
            data={Object.entries(RECIPIENT_WORDS).map(([value, { word }]) => ({ value, label: word }))}
            value={state ?? null}
            onChange={(next) => change({ state: next })}
          />
        </Group>
        <QueryResult of={recipients} skeleton={<RowsSkeleton rows={12} />}>
          {({ campaign: { recipientsDeletedAt }, campaignRecipients: { nodes, pageInfo } }) =>
            recipientsDeletedAt !== null ? (
              <Empty title="Recipients deleted" icon={IconSearchOff}>
                The recipient list passed the project’s retention period and was deleted{' '}
                <When at={recipientsDeletedAt} />. The campaign’s statistics are kept.
              </Empty>
            ) : nodes.length === 0 ? (
              <Empty
                title="No matching recipients"
                icon={IconSearchOff}
                action={
                  <ButtonLink to="." search={{} as never} variant="default">
                    Clear filters
                  </ButtonLink>
                }
              >
                No recipient of this campaign matches this status and address.
              </Empty>
            ) : (
              <Stack>
                <RecipientTable recipients={nodes} />
                <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
              </Stack>
            )
          }
        </QueryResult>
      </Stack>
    </Page>
  );
}

function RecipientTable({ recipients }: { recipients: Recipient[] }) {
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
            <TextLink
              to="/p/$projectId/contacts/$contactId"
              params={{ projectId, contactId }}
              className="covering"
              fw={550}
              size="sm"
              c="var(--mantine-color-text)"
            >
              {email}
            </TextLink>
          ),
        },
        {
          title: 'State',
          width: 130,
          cell: ({ state }) => (
            <StatusBadge tone={RECIPIENT_WORDS[state].tone}>{RECIPIENT_WORDS[state].word}</StatusBadge>
          ),
        },
        { title: 'Last event', from: 'sm', cell: (recipient) => <Since recipient={recipient} /> },
        { title: 'Response', from: 'md', cell: (recipient) => <ServerResponse recipient={recipient} /> },
      ]}
    />
  );
}

/** The latest event of a message. */
function Since({ recipient }: { recipient: Recipient }) {
  const facts: [string, string | null][] = [
    ['Complained', recipient.complainedAt],
    ['Unsubscribed', recipient.unsubscribedAt],
    ['Bounced', recipient.bouncedAt],
    ['Clicked', recipient.clickedAt],
    ['Opened', recipient.openedAt],
    ['Delivered', recipient.deliveredAt],
    ['Sent', recipient.acceptedAt],
    ['Retries', recipient.notBefore],
  ];
  const [word, at] = facts.find(([, time]) => time !== null) ?? ['', null];
  if (at === null) return <>–</>;
  return (
    <>
      {word} <When at={at} />
    </>
  );
}

function ServerResponse({ recipient: { answer, deferrals } }: { recipient: Recipient }) {
  if (answer === null) return <>–</>;
  return (
    <Stack gap={2}>
      <Code className="breakable">{answer}</Code>
      {deferrals > 0 && (
        <Text size="xs" c="dimmed">
          Deferred {deferrals === 1 ? 'once' : `${deferrals} times`}
        </Text>
      )}
    </Stack>
  );
}
