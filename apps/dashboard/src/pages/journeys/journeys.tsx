import { Button, Modal, Select, Stack, TextInput } from '@mantine/core';
import { IconPlus, IconSitemap } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMay, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { cursorOf } from '../../data/paging.ts';
import { useShowSearch } from '../../data/show-search.ts';
import { graphql } from '../../generated/gql.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { DialogForm, required } from '../../components/form.tsx';
import { RowLink } from '../../components/link.tsx';
import { Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { Empty, QueryResult, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { useCreating } from '../../components/use-creating.ts';
import { When } from '../../components/when.tsx';
import { number } from '../campaigns/campaign-labels.ts';
import { GALLERY } from './gallery.ts';
import { JOURNEY_STATUS } from './labels.ts';

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

const CREATE = graphql(`
  mutation CreateJourney($input: CreateJourneyInput!) {
    createJourney(input: $input) {
      id
    }
  }
`);

/** The list of journeys. */
export function Journeys() {
  const { id: projectId } = useProject();
  const search = useSearch({ from: '/auth/p/$projectId/journeys' });
  const show = useShowSearch();
  const journeys = useApiQuery(JOURNEYS, { after: cursorOf(search) ?? null, status: search.status ?? null });
  const [creating, setCreating] = useCreating();
  const may = useMay();
  const create = may('write') && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
      New journey
    </Button>
  );
  return (
    <Page title="Journeys" about="Automations that contacts go through step by step." actions={create}>
      <Stack>
        <Select
          aria-label="Status"
          placeholder="All but archived"
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
      <Modal opened={creating} onClose={() => setCreating(false)} title="New journey">
        <NewJourney onClose={() => setCreating(false)} />
      </Modal>
    </Page>
  );
}

const BLANK = 'blank';

function NewJourney({ onClose }: { onClose: () => void }) {
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const create = useApiMutation(CREATE);
  return (
    <DialogForm
      values={{ name: '', start: BLANK }}
      validate={{ name: required('Enter a name') }}
      mutation={create}
      save={async ({ name, start }) => {
        const definition = GALLERY.find((each) => each.name === start)?.definition;
        const data = await create.run({ input: { name, ...(definition && { definition }) } });
        if (data === undefined) return;
        const journeyId = data.createJourney.id;
        void navigate({ to: '/p/$projectId/journeys/$journeyId', params: { projectId, journeyId } });
      }}
      submit="Create"
      onClose={onClose}
    >
      {(form) => (
        <>
          <TextInput label="Name" autoComplete="off" data-autofocus {...form.getInputProps('name')} />
          <Select
            label="Start from"
            allowDeselect={false}
            data={[{ value: BLANK, label: 'Nothing' }, ...GALLERY.map(({ name }) => ({ value: name, label: name }))]}
            description={GALLERY.find(({ name }) => name === form.values.start)?.about}
            {...form.getInputProps('start')}
          />
        </>
      )}
    </DialogForm>
  );
}
