import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Dialog } from '../../components/dialog.tsx';
import { FormProblem } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { useApiAction } from '../../components/use-api-action.ts';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import type { JourneyQuery, JourneyWaitingAction } from '../../generated/graphql.ts';

const PAUSE = graphql(`
  mutation PauseJourney($id: ID!) {
    pauseJourney(id: $id) {
      id
    }
  }
`);

const RESUME = graphql(`
  mutation ResumeJourney($id: ID!, $waiting: JourneyWaitingAction) {
    resumeJourney(id: $id, waiting: $waiting) {
      id
    }
  }
`);

/** How many of the events that wait are counted: this number means that many or more. */
const MAX_COUNTED = 100_000;

/** Pauses or resumes a journey. If something happened meanwhile, asks what becomes of it. */
export function PauseOrResume({
  journey: { id, name, status, waitingEvents },
}: {
  journey: Pick<JourneyQuery['journey'], 'id' | 'name' | 'status' | 'waitingEvents'>;
}) {
  const pause = useApiAction(PAUSE);
  const resume = useApiMutation(RESUME);
  const [isAsked, setAsked] = useState(false);
  if (status !== 'active' && status !== 'paused') return null;
  const isActive = status === 'active';
  const goOn = async (waiting: JourneyWaitingAction) => {
    if ((await resume.run({ id, waiting })) === undefined) return;
    setAsked(false);
    notifySuccess(`${name} was resumed.`);
  };
  const run = async () => {
    if (!isActive) return waitingEvents > 0 ? setAsked(true) : goOn('process');
    if ((await pause.run({ id })) !== undefined)
      notifySuccess(`${name} is paused. Contacts stay at their steps until you resume it.`);
  };
  const count = `${waitingEvents.toLocaleString('en')}${waitingEvents >= MAX_COUNTED ? ' or more' : ''}`;
  return (
    <>
      <Button variant="default" loading={pause.running || resume.running} onClick={() => void run()}>
        {isActive ? 'Pause' : 'Resume'}
      </Button>
      <Dialog opened={isAsked} onClose={() => setAsked(false)} title="Resume this journey?">
        <Stack>
          <FormProblem problem={resume.problem} />
          <Text size="sm">
            {waitingEvents === 1 ? 'One event of this journey' : `${count} events of this journey`} happened while it
            was paused. Process them to let contacts enter and move on now, or discard them as if they had never
            happened.
          </Text>
          <Group justify="flex-end">
            <Button variant="default" disabled={resume.running} onClick={() => void goOn('discard')}>
              Discard and resume
            </Button>
            <Button data-autofocus loading={resume.running} onClick={() => void goOn('process')}>
              Process and resume
            </Button>
          </Group>
        </Stack>
      </Dialog>
    </>
  );
}
