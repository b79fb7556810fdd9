import { Group } from '@mantine/core';
import { IconBolt } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { useProject } from '../../app/session.tsx';
import { cursorOf } from '../../data/paging.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { RowLink } from '../../components/link.tsx';
import { Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { Empty, QueryResult, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { number } from '../campaigns/campaign-labels.ts';

const EVENT_DEFINITIONS = graphql(`
  query EventDefinitions($after: String) {
    customEventDefinitions(first: 50, after: $after) {
      nodes {
        id
        name
        description
        locked
        eventCount
        lastSeenAt
        properties {
          name
          hasConflict
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

/** The names of the project's custom events. */
export function Events() {
  const { id: projectId } = useProject();
  const search = useSearch({ from: '/auth/p/$projectId/events' });
  const definitions = useApiQuery(EVENT_DEFINITIONS, { after: cursorOf(search) ?? null });
  return (
    <Page title="Events" about="What contacts did in your product, as reported through the API.">
      <QueryResult of={definitions} skeleton={<RowsSkeleton />}>
        {({ customEventDefinitions: { nodes, pageInfo } }) =>
          nodes.length === 0 ? (
            <Empty title="No events yet" icon={IconBolt}>
              Events sent with POST /v1/events appear here with their properties.
            </Empty>
          ) : (
            <>
              <DataTable
                label="Events"
                rows={nodes}
                keyOf={({ id }) => id}
                columns={[
                  {
                    title: 'Event',
                    cell: ({ id, name }) => (
                      <RowLink to="/p/$projectId/events/$definitionId" params={{ projectId, definitionId: id }}>
                        {name}
                      </RowLink>
                    ),
                  },
                  { title: 'Last 30 days', align: 'right', cell: ({ eventCount }) => number(eventCount) },
                  { title: 'Last seen', from: 'sm', cell: ({ lastSeenAt }) => <When at={lastSeenAt} /> },
                  {
                    title: 'Properties',
                    from: 'sm',
                    align: 'right',
                    cell: ({ properties }) => number(properties.length),
                  },
                  {
                    title: 'Schema',
                    from: 'sm',
                    cell: ({ locked, properties }) => (
                      <Group gap={4}>
                        {locked ? 'Locked' : 'Open'}
                        {properties.some(({ hasConflict }) => hasConflict) && (
                          <StatusBadge tone="warn">Type conflict</StatusBadge>
                        )}
                      </Group>
                    ),
                  },
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
