import { Button, Select, Stack } from '@mantine/core';
import { IconPlus, IconSitemap } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiQuery } from '../../data/api-query.ts';
import { cursorOf } from '../../data/paging.ts';
import { useShowSearch } from '../../data/show-search.ts';
import { graphql } from '../../generated/gql.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { RowLink } from '../../components/link.tsx';
import { Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { Empty, QueryResult, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { useCreateDialog } from '../../components/use-create-dialog.ts';
import { When } from '../../components/when.tsx';
import { number } from '../campaigns/campaign-labels.ts';
import { JOURNEY_STATUS } from './journey-search.ts';

const JOURNEYS = graphql(`
  query Journeys($after: String, $status: JourneyStatus) {
    journeys(first: 30, after: $after, status: $status) {
      nodes {
        id
        name
        status
        updatedAt
        runs {
          active
          paused
          completed
          reachedGoal
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

const NewJourneyDialog = lazy(async () => ({ default: (await import('./new-journey.tsx')).NewJourneyDialog }));

/** The list of journeys. */
export function Journeys() {
  const { id: projectId } = useProject();
  const search = useSearch({ from: '/auth/p/$projectId/journeys' });
  const show = useShowSearch();
  const journeys = useApiQuery(JOURNEYS, { after: cursorOf(search) ?? null, status: search.status ?? null });
  const [creating, setCreating] = useCreateDialog('write');
  const canWrite = usePermission('write');
  const create = canWrite && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
      New journey
    </Button>
  );
  return (
    <Page title="Journeys" about="Automations that contacts go through step by step." actions={create}>
      <Stack>
        <Select
          aria-label="Status"
          placeholder="All except archived"
          clearable
          w={180}
          data={Object.entries(JOURNEY_STATUS).map(([value, [, label]]) => ({ value, label }))}
          value={search.status ?? null}
          onChange={(status) => show({ status })}
        />
        <QueryResult of={journeys} skeleton={<RowsSkeleton />}>
          {({ journeys: { nodes, pageInfo } }) =>
            nodes.length === 0 ? (
              <Empty
                title={search.status === undefined ? 'No journeys yet' : 'No matching journeys'}
                icon={IconSitemap}
                action={create}
              >
                Welcome new contacts, remind them of an abandoned cart or win them back, without sending each email
                yourself.
              </Empty>
            ) : (
              <>
                <DataTable
                  label="Journeys"
                  rows={nodes}
                  keyOf={({ id }) => id}
                  columns={[
                    {
                      title: 'Name',
                      cell: ({ id, name }) => (
                        <RowLink to="/p/$projectId/journeys/$journeyId" params={{ projectId, journeyId: id }}>
                          {name}
                        </RowLink>
                      ),
                    },
                    {
                      title: 'Status',
                      width: 120,
                      cell: ({ status }) => {
                        const [tone, label] = JOURNEY_STATUS[status];
                        return <StatusBadge tone={tone}>{label}</StatusBadge>;
                      },
                    },
                    {
                      title: 'In progress',
                      align: 'right',
                      width: 120,
                      cell: ({ runs }) => number(runs.active + runs.paused),
                    },
                    {
                      title: 'Completed',
                      align: 'right',
                      from: 'sm',
                      width: 120,
                      cell: ({ runs }) => number(runs.completed),
                    },
                    {
                      title: 'Goal reached',
                      align: 'right',
                      from: 'sm',
                      width: 130,
                      cell: ({ runs }) => number(runs.reachedGoal),
                    },
                    { title: 'Changed', from: 'sm', width: 150, cell: ({ updatedAt }) => <When at={updatedAt} /> },
                  ]}
                />
                <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
              </>
            )
          }
        </QueryResult>
      </Stack>
      {creating && (
        <Suspense>
          <NewJourneyDialog opened onClose={() => setCreating(false)} />
        </Suspense>
      )}
    </Page>
  );
}
