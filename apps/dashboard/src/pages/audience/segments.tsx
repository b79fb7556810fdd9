import { Skeleton, Stack, Text } from '@mantine/core';
import { IconFilter, IconPlus } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { usePermission, useProject } from '../../app/session.tsx';
import { cursorOf } from '../../data/paging.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { ButtonLink, RowLink } from '../../components/link.tsx';
import { Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { QueryResult, Empty, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';

const SEGMENTS = graphql(`
  query Segments($after: String) {
    segments(first: 30, after: $after) {
      nodes {
        id
        name
        problems {
          message
        }
        updatedAt
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

/** A separate query, because counting is slow for large audiences. */
const COUNTS = graphql(`
  query SegmentCounts($after: String) {
    segments(first: 30, after: $after) {
      nodes {
        id
        contactCount
      }
    }
  }
`);

/** The segment list. */
export function Segments() {
  const search = useSearch({ from: '/auth/p/$projectId/segments' });
  const after = cursorOf(search) ?? null;
  const segments = useApiQuery(SEGMENTS, { after });
  const counts = useApiQuery(COUNTS, { after }).data?.segments.nodes;
  const { id: projectId } = useProject();
  const canWrite = usePermission('write');
  const create = canWrite && (
    <ButtonLink
      to="/p/$projectId/segments/$segmentId"
      params={{ projectId, segmentId: 'new' }}
      leftSection={<IconPlus size={16} aria-hidden />}
    >
      New segment
    </ButtonLink>
  );
  return (
    <Page title="Segments" about="Saved filters that update automatically as contacts change." actions={create}>
      <QueryResult of={segments} skeleton={<RowsSkeleton />}>
        {({ segments: { nodes, pageInfo } }) =>
          nodes.length === 0 ? (
            <Empty title="No segments yet" icon={IconFilter} action={create}>
              Segments select contacts by their fields and activity, such as everyone on a plan who has been inactive
              for a month.
            </Empty>
          ) : (
            <Stack>
              <DataTable
                label="Segments"
                rows={nodes}
                keyOf={({ id }) => id}
                columns={[
                  {
                    title: 'Name',
                    cell: ({ id, name, problems }) => (
                      <>
                        <RowLink to="/p/$projectId/segments/$segmentId" params={{ projectId, segmentId: id }}>
                          {name}
                        </RowLink>
                        {problems.length > 0 && (
                          <Text size="xs" c="red.8">
                            A condition names something that was deleted
                          </Text>
                        )}
                      </>
                    ),
                  },
                  {
                    title: 'Contacts',
                    align: 'right',
                    width: 140,
                    cell: ({ id }) =>
                      counts?.find((each) => each.id === id)?.contactCount.toLocaleString() ?? (
                        <Skeleton h={12} w={40} ml="auto" />
                      ),
                  },
                  { title: 'Changed', from: 'sm', width: 170, cell: ({ updatedAt }) => <When at={updatedAt} /> },
                ]}
              />
              <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
            </Stack>
          )
        }
      </QueryResult>
    </Page>
  );
}
