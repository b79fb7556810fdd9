import { Button, Group, Select, Stack, Text } from '@mantine/core';
import { IconDownload, IconUsers } from '@tabler/icons-react';
import { useProject } from '../../app/session.tsx';
import { FilterPill } from '../../components/filter-pill.tsx';
import { TextLink } from '../../components/link.tsx';
import { Section } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { SearchBox } from '../../components/search-box.tsx';
import { Empty, QueryResult, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { formatDayAndTime } from '../../components/when.tsx';
import { useApiQuery } from '../../data/api-query.ts';
import { downloadUrl } from '../../data/download.ts';
import { cursorOf } from '../../data/paging.ts';
import { useShowSearch } from '../../data/show-search.ts';
import { graphql } from '../../generated/gql.ts';
import type { BacktestContactsQuery } from '../../generated/graphql.ts';
import { labelOf } from '../audience/contact-link.tsx';
import { type BacktestSearch, DIFFERENCES, RESULTS } from './backtest-labels.ts';
import { END_REASONS, outcomeLabel } from './labels.ts';

const CONTACTS = graphql(`
  query BacktestContacts($id: ID!, $after: String, $filter: BacktestContactFilter) {
    backtestContacts(id: $id, first: 20, after: $after, filter: $filter) {
      nodes {
        id
        contactId
        difference
        contact {
          id
          name
          hasName
          email
        }
        candidate {
          ...SimulatedRun
        }
        baseline {
          ...SimulatedRun
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }

  fragment SimulatedRun on BacktestRun {
    enteredAt
    endReason
    stepId
    dueAt
    steps {
      stepId
      leftAt
      outcome
    }
  }
`);

type Runs = BacktestContactsQuery['backtestContacts']['nodes'][number]['candidate'];

/** The contacts that would have entered, filtered, with their simulated steps. */
export function BacktestPeople({
  backtestId,
  search,
  isCompared,
  isRunning,
}: {
  backtestId: string;
  search: BacktestSearch;
  isCompared: boolean;
  isRunning: boolean;
}) {
  const { id: projectId } = useProject();
  const show = useShowSearch();
  const { after: _first, ...filters } = search;
  const { side, step, outcome, day, result, difference, q } = filters;
  const filter = {
    side: side ?? null,
    stepId: step ?? null,
    outcome: outcome ?? null,
    day: day ?? null,
    result: result ?? null,
    difference: difference ?? null,
    search: q ?? null,
  };
  const read = useApiQuery(CONTACTS, { id: backtestId, after: cursorOf(search) ?? null, filter }, { pause: isRunning });
  const exported = { ...filter, stepId: undefined, step_id: step };
  return (
    <div id="people">
      <Section
        title="Contacts"
        actions={
          !isRunning && (
            <Button
              component="a"
              href={downloadUrl(projectId, `backtests/${backtestId}/contacts/export`, exported)}
              download
              variant="default"
              leftSection={<IconDownload size={16} aria-hidden />}
            >
              Export
            </Button>
          )
        }
      >
        {isRunning ? (
          <Text size="sm" c="dimmed">
            Contacts are listed once the backtest has ended.
          </Text>
        ) : (
          <Stack gap="sm">
            <Group gap="xs">
              <SearchBox
                label="Search by address or name"
                value={q ?? ''}
                onSearch={(text) => show({ ...filters, q: text })}
              />
              <Select
                aria-label="Result"
                placeholder="Any result"
                clearable
                w={200}
                data={Object.entries(RESULTS).map(([value, label]) => ({ value, label }))}
                value={result ?? null}
                onChange={(chosen) => show({ ...filters, result: chosen })}
              />
              {isCompared && (
                <Select
                  aria-label="Difference"
                  placeholder="Any difference"
                  clearable
                  w={260}
                  data={Object.entries(DIFFERENCES).map(([value, label]) => ({ value, label }))}
                  value={difference ?? null}
                  onChange={(chosen) => show({ ...filters, difference: chosen })}
                />
              )}
              {step !== undefined && (
                <FilterPill
                  label={[step, outcome === undefined ? day : outcomeLabel(outcome)].filter(Boolean).join(': ')}
                  onRemove={() => show({ ...filters, step: undefined, outcome: undefined, day: undefined })}
                />
              )}
            </Group>
            <QueryResult of={read} skeleton={<RowsSkeleton />}>
              {({ backtestContacts: { nodes, pageInfo } }) =>
                nodes.length === 0 ? (
                  <Empty title="No matching contacts" icon={IconUsers}>
                    Nobody would have entered who passes these filters.
                  </Empty>
                ) : (
                  <>
                    <DataTable
                      label="Contacts of the backtest"
                      rows={nodes}
                      keyOf={({ id }) => id}
                      columns={[
                        {
                          title: 'Contact',
                          width: 220,
                          cell: ({ contact }) =>
                            contact === null ? (
                              'Deleted'
                            ) : (
                              <TextLink
                                to="/p/$projectId/contacts/$contactId"
                                params={{ projectId, contactId: contact.id }}
                                size="sm"
                              >
                                {labelOf(contact)}
                              </TextLink>
                            ),
                        },
                        {
                          title: isCompared ? 'Tested version' : 'Steps',
                          cell: ({ candidate }) => <Steps runs={candidate} />,
                        },
                        ...(isCompared
                          ? [
                              {
                                title: 'Compared with',
                                cell: ({ baseline }: { baseline: Runs }) => <Steps runs={baseline} />,
                              },
                            ]
                          : []),
                      ]}
                    />
                    <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
                  </>
                )
              }
            </QueryResult>
          </Stack>
        )}
      </Section>
    </div>
  );
}

/** The steps of runs, with their times. */
function Steps({ runs }: { runs: Runs }) {
  if (runs.length === 0)
    return (
      <Text size="sm" c="dimmed">
        Does not enter
      </Text>
    );
  return runs.map(({ enteredAt, steps, endReason, stepId, dueAt }) => (
    <div key={enteredAt}>
      <Text size="xs" c="dimmed">
        Enters {formatDayAndTime(enteredAt)}
      </Text>
      {steps.map(({ stepId: left, leftAt, outcome }, index) => (
        <Text key={`${left} ${index}`} size="sm">
          {left}: {outcomeLabel(outcome)}
          <Text span size="xs" c="dimmed">
            {' '}
            {formatDayAndTime(leftAt)}
          </Text>
        </Text>
      ))}
      <Text size="xs" c="dimmed">
        {endReason === null
          ? `Waits at ${stepId}${dueAt === null ? '' : ` until ${formatDayAndTime(dueAt)}`}`
          : (END_REASONS[endReason] ?? endReason)}
      </Text>
    </div>
  ));
}
