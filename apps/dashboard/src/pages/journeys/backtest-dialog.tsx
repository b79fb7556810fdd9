import { Button, Group, NumberInput, Select, Stack, Text } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { useState } from 'react';
import { usePermission, useProject } from '../../app/session.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { countOf } from '../../components/numbers.ts';
import { FormButtons, FormProblem } from '../../components/form.tsx';
import { RecordSelect } from '../../components/record-select.tsx';
import { TextLink } from '../../components/link.tsx';
import { formatDayAndTime } from '../../components/when.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { useUnsavedChanges } from '../../data/unsaved-changes.ts';
import { graphql } from '../../generated/gql.ts';
import { BACKTEST_STATUS } from './backtest-labels.ts';
import { DRAFT, useVersionOptions } from './use-version.ts';

const BACKTESTS = graphql(`
  query Backtests($journeyId: ID!) {
    backtests(first: 5, journeyId: $journeyId) {
      nodes {
        id
        status
        days
        createdAt
      }
    }
  }
`);

const START = graphql(`
  mutation StartBacktest($input: StartBacktestInput!) {
    startBacktest(input: $input) {
      id
    }
  }
`);

/** The days to choose from. */
const DAYS = ['7', '14', '30', '60', '90'];
const DEFAULT_DAYS = '30';

interface Tested {
  id: string;
  publishedVersion: number | null;
}

/** Starts a backtest of a journey, and leads to the last ones. */
export function BacktestButton({ journey, disabled }: { journey: Tested; disabled: boolean }) {
  const [opened, setOpened] = useState(false);
  const canWrite = usePermission('write');
  if (!canWrite) return null;
  return (
    <>
      <Button
        variant="default"
        disabled={disabled}
        leftSection={<IconHistory size={16} aria-hidden />}
        onClick={() => setOpened(true)}
      >
        Backtest
      </Button>
      <Dialog opened={opened} onClose={() => setOpened(false)} title="Test against the past">
        <StartForm journey={journey} onClose={() => setOpened(false)} />
      </Dialog>
    </>
  );
}

const sideOf = (chosen: string) => (chosen === DRAFT ? {} : { version: Number(chosen) });

function StartForm({ journey: { id, publishedVersion }, onClose }: { journey: Tested; onClose: () => void }) {
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const start = useApiMutation(START);
  const read = useApiQuery(BACKTESTS, { journeyId: id }).data;
  const [days, setDays] = useState(DEFAULT_DAYS);
  const versions = useVersionOptions(id);
  const [candidate, setCandidate] = useState(DRAFT);
  const published = publishedVersion === null ? null : String(publishedVersion);
  const [baseline, setBaseline] = useState(published);
  const [segmentId, setSegmentId] = useState<string | null>(null);
  const [opened, setOpened] = useState(0);
  const [clicked, setClicked] = useState(0);
  const areVersionsChanged = candidate !== DRAFT || baseline !== published;
  useUnsavedChanges(days !== DEFAULT_DAYS || areVersionsChanged || segmentId !== null || opened !== 0 || clicked !== 0);
  const submit = async () => {
    const data = await start.run({
      input: {
        journeyId: id,
        days: Number(days),
        candidate: sideOf(candidate),
        ...(baseline === null ? {} : { baseline: sideOf(baseline) }),
        assume: { opened, clicked },
        segmentId,
      },
    });
    if (data === undefined) return;
    void navigate({
      to: '/p/$projectId/backtests/$backtestId',
      params: { projectId, backtestId: data.startBacktest.id },
      ignoreBlocker: true,
    });
  };
  const earlier = read?.backtests.nodes ?? [];
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Stack>
        <Text size="sm" c="dimmed">
          See who would have received what, with the real events of your contacts. Nothing is sent.
        </Text>
        <FormProblem problem={start.problem} />
        <Select
          label="Period"
          allowDeselect={false}
          data={DAYS.map((value) => ({ value, label: `The last ${value} days` }))}
          value={days}
          onChange={(chosen) => setDays(chosen ?? DEFAULT_DAYS)}
        />
        {publishedVersion !== null && (
          <Group grow align="flex-start">
            <Select
              label="Test"
              allowDeselect={false}
              data={versions}
              value={candidate}
              onChange={(chosen) => setCandidate(chosen ?? DRAFT)}
            />
            <Select
              label="Compare with"
              placeholder="Nothing"
              clearable
              data={versions}
              value={baseline}
              onChange={setBaseline}
            />
          </Group>
        )}
        <Group grow align="flex-start">
          <NumberInput
            label="Assumed opens"
            suffix="%"
            min={0}
            max={100}
            value={opened}
            onChange={(value) => setOpened(Number(value))}
          />
          <NumberInput
            label="Assumed clicks"
            suffix="%"
            min={0}
            max={100}
            value={clicked}
            onChange={(value) => setClicked(Number(value))}
          />
        </Group>
        <RecordSelect
          of="segments"
          label="Also start with a segment"
          description="Its contacts enter at the beginning of the period."
          placeholder="No segment"
          clearable
          value={segmentId}
          onChange={setSegmentId}
        />
        {earlier.length > 0 && (
          <div>
            <Text size="sm" fw={500}>
              Earlier backtests
            </Text>
            {earlier.map((each) => (
              <Text key={each.id} size="sm">
                <TextLink
                  to="/p/$projectId/backtests/$backtestId"
                  params={{ projectId, backtestId: each.id }}
                  size="sm"
                >
                  {formatDayAndTime(each.createdAt)}
                </TextLink>
                , {countOf(each.days, 'day')}, {BACKTEST_STATUS[each.status][1].toLowerCase()}
              </Text>
            ))}
          </div>
        )}
        <FormButtons submit="Run backtest" running={start.running} onCancel={onClose} />
      </Stack>
    </form>
  );
}
