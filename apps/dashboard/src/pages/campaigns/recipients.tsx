import { Stack, Text } from '@mantine/core';
import { IconSearch, IconSearchOff } from '@tabler/icons-react';
import { useParams, useSearch } from '@tanstack/react-router';
import { useProject } from '../../app/session.tsx';
import { cursorOf, isFirstPage, nextPage } from '../../data/paging.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { countOf } from '../../components/numbers.ts';
import { ButtonLink, TextLink } from '../../components/link.tsx';
import { BackLabel, Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { QueryResult, Empty, RowsSkeleton } from '../../components/states.tsx';
import { When } from '../../components/when.tsx';
import { RECIPIENT_LABELS } from './campaign-labels.ts';
import { RecipientActions } from './recipient-actions.tsx';
import { RecipientFilters } from './recipient-filters.tsx';
import { BOUNCE_LABELS, OUTCOME_LABELS } from './recipient-labels.ts';
import { recipientFilterOf, type RecipientSearch } from './recipient-search.ts';
import { RecipientTable } from './recipient-table.tsx';

const RECIPIENTS = graphql(`
  query Recipients(
    $id: ID!
    $after: String
    $state: RecipientState
    $outcome: RecipientOutcome
    $bounceClass: BounceClass
    $link: Int
    $search: String
  ) {
    campaign(id: $id) {
      id
      name
      recipientsDeletedAt
    }
    campaignRecipients(
      id: $id
      first: 50
      after: $after
      state: $state
      outcome: $outcome
      bounceClass: $bounceClass
      link: $link
      search: $search
    ) {
      nodes {
        id: messageId
        contactId
        email
        state
        status
        answer
        deferrals
        notBefore
        claimedAt
        acceptedAt
        unsentAt
        deliveredAt
        openedAt
        clickedAt
        openedByMachinesAt
        clickedByMachinesAt
        bouncedAt
        bounceClass
        bounceReason
        rejectedAt
        complainedAt
        unsubscribedAt
        resubscribedAt
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

const RECIPIENT_COUNT = graphql(`
  query RecipientCount(
    $id: ID!
    $state: RecipientState
    $outcome: RecipientOutcome
    $bounceClass: BounceClass
    $link: Int
  ) {
    campaignRecipients(id: $id, first: 1, state: $state, outcome: $outcome, bounceClass: $bounceClass, link: $link) {
      totalCount
    }
  }
`);

/** The people behind a figure of a campaign, with the outcome of their message. */
export function Recipients() {
  const { campaignId } = useParams({ from: '/auth/p/$projectId/campaigns/$campaignId/recipients' });
  const search = useSearch({ from: '/auth/p/$projectId/campaigns/$campaignId/recipients' });
  const { id: projectId } = useProject();
  const filter = recipientFilterOf(search);
  const recipients = useApiQuery(RECIPIENTS, { id: campaignId, after: cursorOf(search) ?? null, ...filter });
  const listed = recipients.data?.campaignRecipients;
  const isSearch = search.q !== undefined;
  const isFiltered = Object.values(filter).some((value) => value !== null);
  const { search: _, ...counted } = filter;
  // Counting a search would read all recipients.
  const count = useApiQuery(RECIPIENT_COUNT, { id: campaignId, ...counted }, { pause: isSearch });
  const total = isSearch ? totalOf(search, listed) : count.data?.campaignRecipients.totalCount;
  const campaign = recipients.data?.campaign;
  return (
    <Page
      title="Recipients"
      about={meaningOf(search)}
      back={
        <TextLink to="/p/$projectId/campaigns/$campaignId" params={{ projectId, campaignId }} size="sm">
          <BackLabel>{campaign?.name ?? 'Campaign'}</BackLabel>
        </TextLink>
      }
      actions={
        campaign !== undefined &&
        campaign.recipientsDeletedAt === null &&
        (listed?.nodes.length ?? 0) > 0 && <RecipientActions campaign={campaign} search={search} total={total} />
      }
    >
      <Stack gap="sm">
        <RecipientFilters campaignId={campaignId} search={search} />
        <Text size="sm" c="dimmed" role="status">
          {total !== undefined ? recipientTotal(total) : !isSearch && count.problem === undefined && 'Counting…'}
        </Text>
        <QueryResult of={recipients} skeleton={<RowsSkeleton rows={12} />}>
          {({ campaign: { recipientsDeletedAt }, campaignRecipients: { nodes, pageInfo } }) =>
            recipientsDeletedAt !== null ? (
              <Empty title="Recipients deleted" icon={IconSearchOff}>
                The recipient list passed the project’s retention period and was deleted{' '}
                <When at={recipientsDeletedAt} />. The campaign’s statistics are kept.
              </Empty>
            ) : nodes.length === 0 && pageInfo.hasNextPage ? (
              <Empty
                title="No matches yet"
                icon={IconSearch}
                action={
                  <ButtonLink to="." search={nextOf(search, pageInfo.endCursor) as never} variant="default">
                    Continue searching
                  </ButtonLink>
                }
              >
                The search has not reached all recipients of this campaign.
              </Empty>
            ) : nodes.length === 0 && !isFiltered && isFirstPage(search) ? (
              <Empty title="No recipients" icon={IconSearchOff}>
                This campaign has no recipients.
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
                No recipient of this campaign matches these filters.
              </Empty>
            ) : (
              <Stack>
                <RecipientTable recipients={nodes} />
                {pageInfo.hasNextPage && nodes.length < PAGE_SIZE && (
                  <Text size="sm" c="dimmed">
                    The search has not reached all recipients of this campaign. The next page continues it.
                  </Text>
                )}
                <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
              </Stack>
            )
          }
        </QueryResult>
      </Stack>
    </Page>
  );
}

/** As in the query. */
const PAGE_SIZE = 50;

interface Listed {
  nodes: unknown[];
  pageInfo: { hasNextPage: boolean };
}

/** How many recipients a search found, if they are on one page. */
const totalOf = (search: RecipientSearch, listed: Listed | undefined) =>
  listed !== undefined && isFirstPage(search) && !listed.pageInfo.hasNextPage ? listed.nodes.length : undefined;

const nextOf = (search: RecipientSearch, endCursor: string | null | undefined) => (previous: object) => ({
  ...previous,
  ...(endCursor == null ? {} : nextPage(search, endCursor)),
});

/** Totals are counted up to this. */
const MOST_COUNTED = 100_000;

const recipientTotal = (total: number) => `${countOf(total, 'recipient')}${total >= MOST_COUNTED ? ' or more' : ''}`;

function meaningOf({ state, outcome, bounce }: RecipientSearch): string {
  if (bounce !== undefined) return BOUNCE_LABELS[bounce].meaning;
  if (outcome !== undefined) return OUTCOME_LABELS[outcome].meaning;
  if (state !== undefined) return RECIPIENT_LABELS[state].meaning;
  return 'Everyone in the recipient snapshot taken when the campaign started.';
}
