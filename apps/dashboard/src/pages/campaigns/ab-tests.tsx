import { Text } from '@mantine/core';
import { IconFlask } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { useProject } from '../../app/session.tsx';
import { useApiQuery } from '../../data/api-query.ts';
import { cursorOf } from '../../data/paging.ts';
import { graphql } from '../../generated/gql.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { RowLink, TextLink } from '../../components/link.tsx';
import { formatPercent } from '../../components/numbers.ts';
import { BackLabel, Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { Empty, QueryResult, RowsSkeleton } from '../../components/states.tsx';
import { DataTable, NONE } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { AB_TEST_STATUS, METRICS } from './ab-test-labels.ts';

const AB_TESTS = graphql(`
  query AbTests($after: String) {
    abTests(first: 30, after: $after) {
      nodes {
        id
        status
        samplePercent
        metric
        winnerId
        createdAt
        variants {
          label
          campaign {
            id
            name
          }
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

/** The list of A/B tests. */
export function AbTests() {
  const { id: projectId } = useProject();
  const search = useSearch({ from: '/auth/p/$projectId/ab-tests' });
  const tests = useApiQuery(AB_TESTS, { after: cursorOf(search) ?? null });
  return (
    <Page
      title="A/B tests"
      about="Variants of a campaign, of which the best one is sent to the rest. Newest first."
      back={
        <TextLink to="/p/$projectId/campaigns" params={{ projectId }} size="sm">
          <BackLabel>Campaigns</BackLabel>
        </TextLink>
      }
    >
      <QueryResult of={tests} skeleton={<RowsSkeleton rows={3} />}>
        {({ abTests: { nodes, pageInfo } }) =>
          nodes.length === 0 ? (
            <Empty title="No A/B tests yet" icon={IconFlask}>
              Write a campaign, then choose Create A/B test at the end of the draft.
            </Empty>
          ) : (
            <>
              <DataTable
                label="A/B tests"
                rows={nodes}
                keyOf={({ id }) => id}
                columns={[
                  {
                    title: 'A/B test',
                    cell: ({ id, variants }) => (
                      <>
                        <RowLink to="/p/$projectId/ab-tests/$abTestId" params={{ projectId, abTestId: id }}>
                          {variants[0]?.campaign.name}
                        </RowLink>
                        <Text size="xs" c="dimmed">
                          {variants.length} variants
                        </Text>
                      </>
                    ),
                  },
                  {
                    title: 'Status',
                    width: 130,
                    cell: ({ status }) => (
                      <StatusBadge tone={AB_TEST_STATUS[status][0]}>{AB_TEST_STATUS[status][1]}</StatusBadge>
                    ),
                  },
                  {
                    title: 'Sample',
                    from: 'sm',
                    align: 'right',
                    cell: ({ samplePercent }) => formatPercent(samplePercent),
                  },
                  { title: 'Decided by', from: 'md', cell: ({ metric }) => METRICS[metric] },
                  {
                    title: 'Winner',
                    cell: ({ winnerId, variants }) =>
                      variants.find(({ campaign }) => campaign.id === winnerId)?.label ?? NONE,
                  },
                  { title: 'Created', from: 'sm', width: 150, cell: ({ createdAt }) => <When at={createdAt} /> },
                ]}
              />
              <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
            </>
          )
        }
      </QueryResult>
    </Page>
  );
}
