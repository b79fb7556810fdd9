import { Alert, Button, Modal, Radio, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useState } from 'react';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import type { JourneyInProgressAction, JourneyQuery } from '../../generated/graphql.ts';
import { Confirm } from '../../components/confirm.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { DataTable } from '../../components/table.tsx';
import { countOf, number } from '../campaigns/campaign-labels.ts';
import { problemInWords } from './labels.ts';

const PUBLISH = graphql(`
  mutation PublishJourney($id: ID!, $input: PublishJourneyInput) {
    publishJourney(id: $id, input: $input) {
      id
    }
  }
`);

type Row = JourneyQuery['journey'];

/** The button that publishes the draft, and its question: what happens to the contacts in progress. */
export function Publish({ journey, disabled }: { journey: Row; disabled: boolean }) {
  const [asked, setAsked] = useState(false);
  const close = () => setAsked(false);
  const { problems } = journey;
  return (
    <>
      <Button disabled={disabled} onClick={() => setAsked(true)}>
        Publish
      </Button>
      {problems.length > 0 ? (
        <Modal opened={asked} onClose={close} title="This draft can’t be published yet">
          <Problems problems={problems} />
        </Modal>
      ) : (
        <Question opened={asked} journey={journey} onClose={close} />
      )}
    </>
  );
}

/** What keeps a draft from being published. */
function Problems({ problems }: { problems: Row['problems'] }) {
  return (
    <Stack gap="xs" role="list" aria-label="Problems">
      {problems.map(({ field, message, stepId }) => (
        <Text key={`${field} ${message}`} size="sm" role="listitem">
          {stepId !== null && <b>{stepId}: </b>}
          {problemInWords({ field, message })}
        </Text>
      ))}
    </Stack>
  );
}

function Question({ opened, journey, onClose }: { opened: boolean; journey: Row; onClose: () => void }) {
  const { id, name, version, status, publishedVersion, inProgress } = journey;
  const [action, setAction] = useState<JourneyInProgressAction>('finish');
  const publish = useApiMutation(PUBLISH);
  const count = inProgress.reduce((sum, { contactCount }) => sum + contactCount, 0);
  const movable = inProgress.reduce((sum, { contactCount, hasMatch }) => sum + (hasMatch ? contactCount : 0), 0);
  const confirm = async () => {
    if ((await publish.run({ id, input: { inProgress: action, version } })) === undefined) return;
    notifySuccess(`${name} is published.`);
    onClose();
  };
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      title={publishedVersion === null ? 'Publish this journey?' : 'Publish a new version?'}
      action="Publish"
      harmless
      running={publish.running}
      problem={publish.problem}
      onConfirm={() => void confirm()}
    >
      <Stack>
        <Text size="sm">
          Contacts enter this version from now on.
          {status === 'paused' && ' The journey is paused, and publishing resumes it.'}
        </Text>
        {count > 0 && (
          <>
            <Radio.Group
              label={`${countOf(count, 'contact')} in progress`}
              value={action}
              onChange={(chosen) => setAction(chosen as JourneyInProgressAction)}
            >
              <Stack gap="xs" mt={6}>
                <Radio value="finish" label="Finish on their version" />
                <Radio
                  value="move"
                  label="Move to the matching step"
                  description={
                    movable === count
                      ? 'All of them are at a step that this version has too.'
                      : `${countOf(movable, 'contact')} can move; the others finish on their version.`
                  }
                />
                <Radio value="exit" label="Leave the journey" />
              </Stack>
            </Radio.Group>
            <DataTable
              label="Contacts in progress"
              rows={inProgress}
              keyOf={({ version: of, stepId }) => `${of} ${stepId}`}
              columns={[
                { title: 'Step', cell: ({ stepId }) => stepId },
                { title: 'Contacts', align: 'right', cell: ({ contactCount }) => number(contactCount) },
                { title: 'Due in 24 h', align: 'right', cell: ({ dueWithinDay }) => number(dueWithinDay) },
                { title: 'Can move', cell: ({ hasMatch }) => (hasMatch ? 'Yes' : 'No') },
              ]}
            />
          </>
        )}
      </Stack>
    </Confirm>
  );
}

/** Says that the draft has problems, and which of them belong to no step. */
export function ProblemsAlert({ problems }: { problems: Row['problems'] }) {
  if (problems.length === 0) return null;
  const apart = problems.filter(({ stepId }) => stepId === null);
  const steps = new Set(problems.map(({ stepId }) => stepId)).size;
  return (
    <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title="Required before publishing">
      {apart.length > 0 ? (
        <Problems problems={apart} />
      ) : (
        <Text size="sm">
          {countOf(steps, 'step')} below {steps === 1 ? 'needs' : 'need'} attention.
        </Text>
      )}
    </Alert>
  );
}
