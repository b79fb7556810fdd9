import { Group, Pill, Select, Stack } from '@mantine/core';
import { IconBolt, IconSearchOff } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { cursorOf } from '../../data/paging.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { FilterPill, formatTimeRange } from '../../components/filter-pill.tsx';
import { Section } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { SearchBox } from '../../components/search-box.tsx';
import { Empty, QueryResult, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { ContactLink } from '../audience/contact-link.tsx';
import { useShowSearch } from '../../data/show-search.ts';
import { EventProperties } from './event-properties.tsx';
import type { EventSearch } from './event-search.ts';

const LATEST_EVENTS = graphql(`
  query LatestEvents($after: String, $name: String!, $email: String, $from: DateTime, $to: DateTime) {
    customEvents(first: 50, after: $after, name: $name, email: $email, from: $from, to: $to) {
      nodes {
        id
        properties
        occurredAt
        contact {
          id
          name
          hasName
          email
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

const HOUR_MS = 60 * 60 * 1000;
/** Periods to choose from, in hours. */
const PERIODS = { '24': 'Last 24 hours', '168': 'Last 7 days', '720': 'Last 30 days' };

/** The latest events of a name. */
export function LatestEvents({ name }: { name: string }) {
  const search = useSearch({ from: '/auth/p/$projectId/events/$definitionId' });
  const { email, since, until } = search;
  const events = useApiQuery(LATEST_EVENTS, {
    name,
    after: cursorOf(search) ?? null,
    email: email ?? null,
    from: since ?? null,
    to: until ?? null,
  });
  const isFiltered = email !== undefined || since !== undefined;
  return (
    <Section title="Latest events">
      <Stack gap="sm">
        <Filters search={search} />
        <QueryResult of={events} skeleton={<RowsSkeleton />}>
          {({ customEvents: { nodes, pageInfo } }) =>
            nodes.length === 0 ? (
              <Empty
                title={isFiltered ? 'No matching events' : 'No events kept'}
                icon={isFiltered ? IconSearchOff : IconBolt}
              >
                {isFiltered
                  ? 'No event matches these filters. Enter the full address.'
                  : 'The events were deleted by the retention setting, or with their contacts.'}
              </Empty>
            ) : (
              <>
                <DataTable
                  label="Latest events"
                  rows={nodes}
                  keyOf={({ id }) => id}
                  columns={[
                    {
                      title: 'Contact',
                      cell: ({ contact }) => (contact === null ? 'Deleted' : <ContactLink contact={contact} />),
                    },
                    { title: 'Properties', cell: ({ properties }) => <EventProperties of={properties} /> },
                    { title: 'Occurred', width: 140, cell: ({ occurredAt }) => <When at={occurredAt} /> },
                  ]}
                />
                <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
              </>
            )
          }
        </QueryResult>
      </Stack>
    </Section>
  );
}

function Filters({ search }: { search: EventSearch }) {
  const show = useShowSearch();
  const change = (part: { email?: string | undefined; since?: string | undefined }) => {
    const { after: _first, until: _until, ...rest } = search;
    show({ ...rest, ...part });
  };
  return (
    <>
      <Group gap="xs" align="flex-start">
        <SearchBox value={search.email ?? ''} label="Contact’s full address" onSearch={(email) => change({ email })} />
        <Select
          aria-label="Period"
          placeholder="Any time"
          w={170}
          data={Object.entries(PERIODS).map(([value, label]) => ({ value, label }))}
          value={null}
          onChange={(hours) =>
            hours !== null && change({ since: new Date(Date.now() - Number(hours) * HOUR_MS).toISOString() })
          }
        />
      </Group>
      {search.since !== undefined && (
        <Pill.Group aria-label="Active filters">
          <FilterPill label={`Occurred ${formatTimeRange(search)}`} onRemove={() => change({ since: undefined })} />
        </Pill.Group>
      )}
    </>
  );
}
