import { Button, Select, Stack, Text } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import { useState } from 'react';
import { useProject } from '../../app/session.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { MoreMenu } from '../../components/more-menu.tsx';
import { countOf, formatPercent } from '../../components/numbers.ts';
import { notifySuccess } from '../../components/notify.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import { useApiMutation } from '../../data/api-mutation.ts';
import type { Problem } from '../../data/problem.ts';
import { hasUnsavedChanges } from '../../data/unsaved-changes.ts';
import { graphql } from '../../generated/gql.ts';
import type { AbTestRow } from './ab-test-row.ts';
import { inCampaignWords } from './findings.ts';
import { StartFindings, useStartFindings } from './start-findings.tsx';

const START = graphql(`
  mutation StartAbTest($id: ID!, $version: Int!, $variantVersions: [Int!]!) {
    startAbTest(id: $id, version: $version, variantVersions: $variantVersions) {
      id
    }
  }
`);

const CHOOSE = graphql(`
  mutation ChooseAbTestWinner($id: ID!, $campaignId: ID!) {
    chooseAbTestWinner(id: $id, campaignId: $campaignId) {
      id
    }
  }
`);

const CANCEL = graphql(`
  mutation CancelAbTest($id: ID!) {
    cancelAbTest(id: $id) {
      id
    }
  }
`);

const DELETE = graphql(`
  mutation DeleteAbTest($id: ID!) {
    abTestDelete(id: $id) {
      deletedId
    }
  }
`);

/** Of a draft whose settings are still being edited, which would be lost with the start. */
const UNSAVED: Problem = {
  code: 'unsaved',
  message: 'The settings have unsaved changes. Save them first, or change them back.',
  fields: {},
};

/** What can be done with a test in its state. */
export function AbTestCommands({ test }: { test: AbTestRow }) {
  if (test.status === 'draft') return <DraftCommands test={test} />;
  return test.status === 'testing' ? <RunningCommands test={test} /> : null;
}

function DraftCommands({ test }: { test: AbTestRow }) {
  const { id, name, variants, samplePercent, version } = test;
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const [asking, setAsking] = useState<'start' | 'unsaved'>();
  const start = useApiMutation(START);
  const remove = useApiMutation(DELETE);
  const close = () => setAsking(undefined);
  const findings = useStartFindings(variants, { pause: asking !== 'start' });
  const confirm = async () => {
    const variantVersions = variants.map(({ campaign }) => campaign.version);
    if ((await start.run({ id, version, variantVersions })) === undefined) return;
    notifySuccess('The A/B test was started.');
    close();
  };
  const confirmDelete = async () => {
    if ((await remove.run({ id })) === undefined) return;
    notifySuccess('The A/B test was deleted.');
    void navigate({ to: '/p/$projectId/ab-tests', params: { projectId }, ignoreBlocker: true, replace: true });
  };
  return (
    <>
      <MoreMenu
        name={name}
        remove={{
          title: 'Delete this A/B test?',
          about: 'Its variants are deleted too, except A, which becomes an ordinary draft again.',
          run: () => void confirmDelete(),
          running: remove.running,
          problem: remove.problem,
        }}
      />
      <Button
        leftSection={<IconSend size={16} aria-hidden />}
        onClick={() => setAsking(hasUnsavedChanges() ? 'unsaved' : 'start')}
      >
        Start
      </Button>
      <Confirm
        opened={asking !== undefined}
        onClose={close}
        title="Start this A/B test now?"
        action="Start"
        harmless
        disabled={asking === 'unsaved' || (findings?.problems.length ?? 0) > 0}
        running={start.running}
        problem={asking === 'unsaved' ? UNSAVED : inCampaignWords(start.problem)}
        onConfirm={() => void confirm()}
      >
        <Stack gap="sm">
          <div>
            {variants.length} variants go to {formatPercent(samplePercent)} of the audience
            {findings !== undefined && ` of ${countOf(findings.recipients, 'person', 'people')}`} now, in equal shares.{' '}
            {samplePercent < 100 && 'The rest gets the winner when the time is up.'}
          </div>
          {findings !== undefined && <StartFindings findings={findings} />}
        </Stack>
      </Confirm>
    </>
  );
}

function RunningCommands({ test: { id, variants, leaderId, samplePercent } }: { test: AbTestRow }) {
  const [asking, setAsking] = useState<'choose' | 'cancel'>();
  const [chosen, setChosen] = useState('');
  const choose = useApiMutation(CHOOSE);
  const cancel = useApiMutation(CANCEL);
  const close = () => setAsking(undefined);
  // The lead may pass to another variant while the dialog is open, which must not change the choice.
  const askForWinner = () => {
    setChosen(leaderId ?? variants[0]?.campaign.id ?? '');
    setAsking('choose');
  };
  const confirmChoice = async () => {
    if ((await choose.run({ id, campaignId: chosen })) === undefined) return;
    notifySuccess('The winner was chosen.');
    close();
  };
  const confirmCancel = async () => {
    if ((await cancel.run({ id })) === undefined) return;
    notifySuccess('The A/B test was canceled.');
    close();
  };
  return (
    <>
      <Button variant="default" onClick={() => setAsking('cancel')}>
        Cancel test
      </Button>
      <Button onClick={askForWinner}>Choose winner</Button>
      <Confirm
        opened={asking === 'choose'}
        onClose={close}
        title="Choose the winner now?"
        action="Choose"
        harmless
        running={choose.running}
        problem={choose.problem}
        onConfirm={() => void confirmChoice()}
      >
        <Stack>
          <Text size="sm">
            {samplePercent < 100
              ? 'It is sent to the rest of the audience now.'
              : 'Everyone is in the sample, so nothing more is sent.'}
          </Text>
          <Select
            label="Winner"
            allowDeselect={false}
            data={variants.map(({ label, campaign }) => ({
              value: campaign.id,
              label: `${label}: ${campaign.subject ?? campaign.name}`,
            }))}
            value={chosen}
            onChange={(campaignId) => campaignId !== null && setChosen(campaignId)}
          />
        </Stack>
      </Confirm>
      <Confirm
        opened={asking === 'cancel'}
        onClose={close}
        title="Cancel this A/B test?"
        action="Cancel the test"
        running={cancel.running}
        problem={cancel.problem}
        onConfirm={() => void confirmCancel()}
      >
        What its variants have not sent is not sent, no winner is chosen, and no one else gets anything.
      </Confirm>
    </>
  );
}
