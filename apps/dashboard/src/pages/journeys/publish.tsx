import { Alert, Anchor, Button, Radio, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useState } from 'react';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import type { JourneyInProgressAction, JourneyQuery } from '../../generated/graphql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { countOf } from '../../components/numbers.ts';
import { Confirm } from '../../components/confirm.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { DataTable } from '../../components/table.tsx';
import { number } from '../campaigns/campaign-labels.ts';
import { ENTRY } from './graph.ts';
import { describeProblem } from './labels.ts';
import { RULES } from './step-panel.tsx';

const PUBLISH = graphql(`
  mutation PublishJourney($id: ID!, $input: PublishJourneyInput) {
    publishJourney(id: $id, input: $input) {
      id
    }
  }
`);

type Row = JourneyQuery['journey'];

/** The button that publishes the draft, and its question: what happens to the contacts in progress. */
export function Publish({
  journey,
  disabled,
  onShow,
}: {
  journey: Row;
  disabled: boolean;
  /** Leads to what has a problem: the id of a step, `ENTRY` or `RULES`. */
  onShow: (id: string) => void;
}) {
  const [asked, setAsked] = useState(false);
  const close = () => setAsked(false);
  const { problems } = journey;
  return (
    <>
      <Button disabled={disabled} onClick={() => setAsked(true)}>
        Publish
      </Button>
      {problems.length > 0 ? (
        <Dialog opened={asked} onClose={close} title="This draft can’t be published yet">
          <Problems
            problems={problems}
            onShow={(id) => {
              close();
              onShow(id);
            }}
          />
        </Dialog>
      ) : (
        <Question opened={asked} journey={journey} onClose={close} />
      )}
    </>
  );
}

/** What a problem belongs to: the id of a step, the entry, or the rules. */
export const nodeOf = ({ field, stepId }: { field: string; stepId: string | null }): string =>
  stepId ?? (/^definition\.(entry|steps)\b/.test(field) ? ENTRY : RULES);

const placeInWords = (id: string) => (id === ENTRY ? 'Entry' : id === RULES ? 'Rules' : id);

/** What keeps a draft from being published. Each problem leads to its step. */
function Problems({ problems, onShow }: { problems: Row['problems']; onShow: (id: string) => void }) {
  return (
    <ul className="plain-list" aria-label="Problems">
      {problems.map((problem) => (
        <li key={`${problem.field} ${problem.message}`}>
          <Text size="sm" className="breakable">
            <Anchor component="button" type="button" size="sm" onClick={() => onShow(nodeOf(problem))}>
              {placeInWords(nodeOf(problem))}
            </Anchor>
            : {describeProblem(problem)}
          </Text>
        </li>
      ))}
    </ul>
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
                      ? 'All of them are at a step that also exists in this version.'
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

/** The most problems that are listed above the steps. */
const LISTED = 6;

/** Says what keeps the draft from being published. */
export function ProblemsAlert({ problems, onShow }: { problems: Row['problems']; onShow: (id: string) => void }) {
  if (problems.length === 0) return null;
  const more = problems.length - LISTED;
  return (
    <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title="Required before publishing">
      <Problems problems={problems.slice(0, LISTED)} onShow={onShow} />
      {more > 0 && <Text size="sm">And {countOf(more, 'more problem')}, at their steps below.</Text>}
    </Alert>
  );
}
