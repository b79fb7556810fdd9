import '@mantine/core/styles/List.css';
import { Alert, Button, Card, Group, List, Progress, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconInfoCircle } from '@tabler/icons-react';
import { useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { usePermission, useProject } from '../../app/session.tsx';
import { countOf, formatPercent } from '../../components/numbers.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { TextLink } from '../../components/link.tsx';
import { BackLabel, Page, Section } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { Stat, Stats } from '../../components/stats.tsx';
import { DataTable } from '../../components/table.tsx';
import { formatUtcDay } from '../../components/when.tsx';
import { WorkflowLink } from '../../components/workflow-link.tsx';
import { useApiAction } from '../../components/use-api-action.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { useLive } from '../../data/live.ts';
import { graphql } from '../../generated/gql.ts';
import type { BacktestQuery, BacktestSide } from '../../generated/graphql.ts';
import { number } from '../campaigns/campaign-labels.ts';
import { BACKTEST_STATUS, type BacktestSearch, DIFFERENCES } from './backtest-labels.ts';
import { BacktestPeople } from './backtest-people.tsx';
import { outcomeLabel } from './labels.ts';

const BACKTEST = graphql(`
  query Backtest($id: ID!) {
    backtest(id: $id) {
      id
      journeyId
      status
      days
      until
      total
      processed
      listed
      error
      notes
      cancelRequestedAt
      workflowUrl
      assumptions {
        opened
        clicked
      }
      differences {
        difference
        contacts
      }
      candidate {
        version
        ...BacktestFigures
      }
      baseline {
        version
        ...BacktestFigures
      }
    }
  }

  fragment BacktestFigures on BacktestTotals {
    contacts
    runs
    completed
    exited
    reachedGoal
    inProgress
    messages
    notAgain
    notMatching
    steps {
      stepId
      reached
      waiting
      outcomes {
        outcome
        count
      }
    }
    sent {
      stepId
      day
      count
    }
  }
`);

const PROGRESS = graphql(`
  subscription BacktestProgress($id: ID!) {
    backtestProgress(id: $id) {
      id
    }
  }
`);

const CANCEL = graphql(`
  mutation CancelBacktest($id: ID!) {
    cancelBacktest(id: $id) {
      id
    }
  }
`);

type Row = BacktestQuery['backtest'];
type Figures = Row['candidate'];

const FROM = '/auth/p/$projectId/backtests/$backtestId';

/** What a journey would have done in the past. */
export function Backtest() {
  const { backtestId } = useParams({ from: FROM });
  const search = useSearch({ from: FROM });
  const { id: projectId } = useProject();
  const read = useApiQuery(BACKTEST, { id: backtestId });
  const row = read.data?.backtest;
  useLive(PROGRESS, { id: backtestId }, { pause: row?.status !== 'running' });
  return (
    <Page
      title="Backtest"
      about={
        row === undefined
          ? undefined
          : `What would have happened in the ${row.days} days until ${formatUtcDay(row.until)}. Nothing was sent.`
      }
      back={
        row?.journeyId == null ? (
          <TextLink to="/p/$projectId/journeys" params={{ projectId }} size="sm">
            <BackLabel>Journeys</BackLabel>
          </TextLink>
        ) : (
          <TextLink to="/p/$projectId/journeys/$journeyId" params={{ projectId, journeyId: row.journeyId }} size="sm">
            <BackLabel>Journey</BackLabel>
          </TextLink>
        )
      }
      mark={
        row !== undefined && (
          <StatusBadge tone={BACKTEST_STATUS[row.status][0]}>{BACKTEST_STATUS[row.status][1]}</StatusBadge>
        )
      }
      actions={<WorkflowLink url={row?.workflowUrl ?? null} />}
    >
      <QueryResult of={read}>
        {({ backtest }) => (
          <Stack gap="lg">
            <Course row={backtest} />
            <Results row={backtest} />
            <Notes row={backtest} />
            <BacktestPeople
              backtestId={backtest.id}
              search={search}
              isCompared={backtest.baseline !== null}
              isRunning={backtest.status === 'running'}
            />
          </Stack>
        )}
      </QueryResult>
    </Page>
  );
}

function Course({ row: { id, status, processed, total, error, cancelRequestedAt } }: { row: Row }) {
  const cancel = useApiAction(CANCEL);
  const canWrite = usePermission('write');
  if (status === 'failed')
    return (
      <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title="The backtest could not continue">
        {error}
      </Alert>
    );
  if (status !== 'running') return null;
  const share = total === 0 ? 0 : Math.min(100, Math.round((100 * processed) / total));
  return (
    <Card>
      <Stack gap="sm">
        <Group justify="space-between">
          <Text fw={550} role="status">
            {number(processed)} of {number(total)} contacts.{' '}
            {cancelRequestedAt === null ? 'You can leave this page.' : 'Stopping.'}
          </Text>
          {canWrite && cancelRequestedAt === null && (
            <Button
              variant="default"
              size="compact-sm"
              loading={cancel.running}
              onClick={() => void cancel.run({ id })}
            >
              Cancel
            </Button>
          )}
        </Group>
        <Progress value={share} animated aria-label={`Backtest: ${formatPercent(share)}`} />
      </Stack>
    </Card>
  );
}

/** How a definition is called: the version, or the draft. */
const nameOf = ({ version }: Pick<Figures, 'version'>) => (version === null ? 'Draft' : `Version ${version}`);

function Results({ row }: { row: Row }) {
  const { candidate, baseline } = row;
  const sides: [BacktestSide, Figures][] = [
    ['candidate', candidate],
    ...(baseline === null ? [] : [['baseline', baseline] satisfies [BacktestSide, Figures]]),
  ];
  return (
    <>
      {sides.map(([side, figures]) => (
        <Totals key={side} side={side} figures={figures} other={side === 'candidate' ? baseline : null} />
      ))}
      {baseline !== null && <Differences row={row} />}
      {sides.map(([side, figures]) => (
        <Section key={side} title={baseline === null ? 'Steps' : `Steps: ${nameOf(figures)}`}>
          <Steps side={side} figures={figures} />
        </Section>
      ))}
      {sides.map(
        ([side, figures]) =>
          figures.sent.length > 0 && (
            <Section key={side} title={baseline === null ? 'Emails by day' : `Emails by day: ${nameOf(figures)}`}>
              <Days side={side} figures={figures} />
            </Section>
          ),
      )}
    </>
  );
}

const percent = (part: number, whole: number) => (whole === 0 ? '' : `${((100 * part) / whole).toFixed(1)} % of runs`);

function Totals({ side, figures, other }: { side: BacktestSide; figures: Figures; other: Figures | null }) {
  const detail = (of: (each: Figures) => number) =>
    other === null ? undefined : `${nameOf(other)}: ${number(of(other))}`;
  return (
    <Stats label={nameOf(figures)}>
      <Stat
        label="Contacts"
        value={<People search={{ side }}>{figures.contacts}</People>}
        detail={detail(({ contacts }) => contacts)}
      />
      <Stat
        label="Emails"
        value={<People search={{ side, result: 'sent' }}>{figures.messages}</People>}
        detail={detail(({ messages }) => messages)}
      />
      <Stat
        label="Reached the goal"
        value={<People search={{ side, result: 'goal' }}>{figures.reachedGoal}</People>}
        detail={percent(figures.reachedGoal, figures.runs)}
      />
      <Stat
        label="Completed"
        value={<People search={{ side, result: 'completed' }}>{figures.completed}</People>}
        detail={detail(({ completed }) => completed)}
      />
      <Stat
        label="Still in progress"
        value={<People search={{ side, result: 'in_progress' }}>{figures.inProgress}</People>}
        detail={detail(({ inProgress }) => inProgress)}
      />
      <Stat label="Not let in again" value={figures.notAgain} detail={detail(({ notAgain }) => notAgain)} />
    </Stats>
  );
}

/** A number that leads to the contacts behind it. */
function People({ search, children }: { search: BacktestSearch; children: number }) {
  if (children === 0) return <>0</>;
  return (
    <TextLink to="." search={search as never} hash="people" inherit underline="always">
      {number(children)}
    </TextLink>
  );
}

function Differences({ row: { differences } }: { row: Row }) {
  const found = differences.filter(({ contacts }) => contacts > 0);
  return (
    <Section title="Difference" about="Contacts, by how their emails differ between the two.">
      {found.length === 0 ? (
        <Text size="sm">Nobody enters in either.</Text>
      ) : (
        <DataTable
          label="Difference"
          rows={found}
          keyOf={({ difference }) => difference}
          columns={[
            { title: 'Emails', cell: ({ difference }) => DIFFERENCES[difference] },
            {
              title: 'Contacts',
              align: 'right',
              width: 120,
              cell: ({ difference, contacts }) => <People search={{ difference }}>{contacts}</People>,
            },
          ]}
        />
      )}
    </Section>
  );
}

function Steps({ side, figures: { steps } }: { side: BacktestSide; figures: Figures }) {
  return (
    <DataTable
      label="Steps"
      rows={steps}
      keyOf={({ stepId }) => stepId}
      columns={[
        { title: 'Step', width: 200, cell: ({ stepId }) => <span className="breakable">{stepId}</span> },
        {
          title: 'Outcome',
          cell: ({ stepId, outcomes }) =>
            outcomes.map(({ outcome, count }, index): ReactNode => (
              <span key={outcome}>
                {index > 0 && ', '}
                {outcomeLabel(outcome)}: <People search={{ side, step: stepId, outcome }}>{count}</People>
              </span>
            )),
        },
        {
          title: 'Waiting',
          align: 'right',
          width: 100,
          cell: ({ stepId, waiting }) => <People search={{ side, step: stepId, outcome: 'waiting' }}>{waiting}</People>,
        },
        {
          title: 'Reached',
          align: 'right',
          width: 100,
          cell: ({ stepId, reached }) => <People search={{ side, step: stepId }}>{reached}</People>,
        },
      ]}
    />
  );
}

/** How many days are listed; the API has all of them. */
const SHOWN_DAYS = 100;

function Days({ side, figures: { sent } }: { side: BacktestSide; figures: Figures }) {
  return (
    <Stack gap="xs">
      <DataTable
        label="Emails by day"
        rows={sent.slice(0, SHOWN_DAYS)}
        keyOf={({ stepId, day }) => `${stepId} ${day}`}
        columns={[
          { title: 'Day', width: 160, cell: ({ day }) => formatUtcDay(day) },
          { title: 'Step', cell: ({ stepId }) => <span className="breakable">{stepId}</span> },
          {
            title: 'Emails',
            align: 'right',
            width: 120,
            cell: ({ stepId, day, count }) => <People search={{ side, step: stepId, day }}>{count}</People>,
          },
        ]}
      />
      {sent.length > SHOWN_DAYS && (
        <Text size="sm" c="dimmed">
          {countOf(sent.length - SHOWN_DAYS, 'more row')} in the API.
        </Text>
      )}
    </Stack>
  );
}

function Notes({ row: { notes, assumptions } }: { row: Row }) {
  return (
    <Alert color="gray" icon={<IconInfoCircle aria-hidden />} title="How to read this">
      <List size="sm" spacing={4}>
        <List.Item>
          Events count at the time at which they occurred. Nobody was in the journey before the period.
        </List.Item>
        <List.Item>
          Contacts did what they really did. Emails that were not sent changed nothing: {assumptions.opened} % are
          assumed to be opened and {assumptions.clicked} % to be clicked.
        </List.Item>
        {notes.map((note) => (
          <List.Item key={note}>{note}</List.Item>
        ))}
      </List>
    </Alert>
  );
}
