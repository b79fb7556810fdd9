import { Box, Button, Card, Group, Select, Stack, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { usePolling } from '../../data/polling.ts';
import { graphql } from '../../generated/gql.ts';
import type { EnrollmentQuery } from '../../generated/graphql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { StatusBadge } from '../../components/badge.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { DescriptionList } from '../../components/description-list.tsx';
import { FormButtons, FormProblem } from '../../components/form.tsx';
import { TextLink } from '../../components/link.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { BackLabel, Page, Section } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { formatDayAndTime, When } from '../../components/when.tsx';
import { useApiAction } from '../../components/use-api-action.ts';
import { ContactLink, labelOf } from '../audience/contact-link.tsx';
import { EventProperties } from '../events/event-properties.tsx';
import { ENROLLMENT_STATUS } from './journey-search.ts';
import { END_REASONS, outcomeLabel } from './labels.ts';
import { nextOf } from './people.tsx';
import { useVersion } from './use-version.ts';

const ENROLLMENT = graphql(`
  query Enrollment($id: ID!) {
    enrollment(id: $id) {
      id
      journeyId
      version
      status
      stepId
      dueAt
      waitsFor
      properties
      enteredAt
      endedAt
      endReason
      contact {
        id
        name
        hasName
        email
      }
      steps {
        stepId
        arrivedAt
        leftAt
        outcome
        detail
        messageId
      }
    }
  }
`);

const STEPS = graphql(`
  query EnrollmentSteps($id: ID!, $after: String) {
    enrollmentSteps(enrollmentId: $id, first: 50, after: $after) {
      nodes {
        stepId
        arrivedAt
        leftAt
        outcome
        detail
        messageId
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

const JOURNEY_OF_RUN = graphql(`
  query JourneyOfEnrollment($id: ID!) {
    journey(id: $id) {
      id
      name
    }
  }
`);

const PAUSE = graphql(`
  mutation PauseEnrollment($id: ID!) {
    pauseEnrollment(id: $id) {
      id
    }
  }
`);

const RESUME = graphql(`
  mutation ResumeEnrollment($id: ID!) {
    resumeEnrollment(id: $id) {
      id
    }
  }
`);

const MOVE = graphql(`
  mutation MoveEnrollment($id: ID!, $stepId: String!) {
    moveEnrollment(id: $id, stepId: $stepId) {
      id
    }
  }
`);

const REMOVE = graphql(`
  mutation RemoveEnrollment($id: ID!) {
    removeEnrollment(id: $id) {
      id
    }
  }
`);

type Row = EnrollmentQuery['enrollment'];

/** A contact's run through a journey, step by step. */
export function Enrollment() {
  const { enrollmentId } = useParams({ from: '/auth/p/$projectId/enrollments/$enrollmentId' });
  const { id: projectId } = useProject();
  const enrollment = useApiQuery(ENROLLMENT, { id: enrollmentId });
  const row = enrollment.data?.enrollment;
  usePolling(enrollment.again, row?.endedAt === null);
  const journeyId = row?.journeyId ?? '';
  const journey = useApiQuery(JOURNEY_OF_RUN, { id: journeyId }, { pause: row === undefined }).data?.journey;
  const definition = useVersion(journeyId, row?.version);
  const [tone, label] = row === undefined ? (['quiet', ''] as const) : ENROLLMENT_STATUS[row.status];
  return (
    <Page
      title={row?.contact == null ? 'Contact in a journey' : labelOf(row.contact)}
      mark={row && <StatusBadge tone={tone}>{label}</StatusBadge>}
      back={
        row && (
          <TextLink to="/p/$projectId/journeys/$journeyId" params={{ projectId, journeyId }} size="sm">
            <BackLabel>{journey?.name ?? 'Journey'}</BackLabel>
          </TextLink>
        )
      }
      actions={row?.endedAt === null && <Actions run={row} steps={definition?.steps.map(({ id }) => id) ?? []} />}
    >
      <QueryResult of={enrollment}>{({ enrollment: run }) => <Run run={run} />}</QueryResult>
    </Page>
  );
}

function Run({ run }: { run: Row }) {
  const { contact, version, enteredAt, endedAt, endReason, properties, stepId, steps } = run;
  return (
    <>
      <Card>
        <DescriptionList
          items={[
            ['Contact', contact === null ? 'Deleted' : <ContactLink key="contact" contact={contact} />],
            ['Version', version],
            ['Entered', <When key="entered" at={enteredAt} />],
            endedAt === null && ['At step', stepId],
            endedAt === null && ['Next', nextOf(run)],
            endedAt !== null && ['Ended', <When key="ended" at={endedAt} />],
            endReason !== null && ['Why', END_REASONS[endReason] ?? endReason],
            Object.keys(properties as object).length > 0 && [
              'Entered with',
              <EventProperties key="properties" of={properties} />,
            ],
          ]}
        />
      </Card>
      <Section title="Steps" about="Ordered by when the contact left them.">
        <RunSteps id={run.id} recent={steps} />
      </Section>
    </>
  );
}

/** How many of the last steps come with a run. */
const RECENT = 50;

function StepTable({ steps }: { steps: Row['steps'] }) {
  return (
    <DataTable
      label="Steps of the contact"
      rows={steps}
      keyOf={(step) => `${step.stepId} ${step.leftAt} ${step.arrivedAt}`}
      columns={[
        { title: 'Step', cell: (step) => step.stepId },
        { title: 'Outcome', cell: (step) => <Outcome step={step} /> },
        { title: 'Arrived', from: 'sm', cell: ({ arrivedAt }) => formatDayAndTime(arrivedAt) },
        { title: 'Left', from: 'sm', cell: ({ leftAt }) => formatDayAndTime(leftAt) },
      ]}
    />
  );
}

/** The last steps of a run, or page by page all of them, the last first. */
function RunSteps({ id, recent }: { id: string; recent: Row['steps'] }) {
  const [cursors, setCursors] = useState<string[]>();
  const pages = useApiQuery(STEPS, { id, after: cursors?.at(-1) ?? null }, { pause: cursors === undefined });
  if (recent.length === 0)
    return (
      <Text size="sm" c="dimmed">
        None yet.
      </Text>
    );
  if (cursors === undefined)
    return (
      <Stack gap="sm" align="flex-start">
        <Box w="100%">
          <StepTable steps={recent} />
        </Box>
        {recent.length >= RECENT && (
          <Button variant="default" onClick={() => setCursors([])}>
            Show all steps
          </Button>
        )}
      </Stack>
    );
  return (
    <QueryResult of={pages}>
      {({ enrollmentSteps: { nodes, pageInfo } }) => (
        <Stack>
          <Text size="sm" c="dimmed">
            All steps, newest first.
          </Text>
          <StepTable steps={nodes} />
          <Group justify="flex-end">
            <Button variant="default" disabled={cursors.length === 0} onClick={() => setCursors(cursors.slice(0, -1))}>
              Previous
            </Button>
            <Button
              variant="default"
              disabled={!pageInfo.hasNextPage}
              onClick={() => setCursors([...cursors, pageInfo.endCursor ?? ''])}
            >
              Next
            </Button>
          </Group>
        </Stack>
      )}
    </QueryResult>
  );
}

function Outcome({ step: { outcome, detail, messageId } }: { step: Row['steps'][number] }) {
  const { id: projectId } = useProject();
  const words = outcomeLabel(outcome);
  return (
    <>
      {messageId === null ? (
        words
      ) : (
        <TextLink to="/p/$projectId/emails/$emailId" params={{ projectId, emailId: messageId }} size="sm">
          {words}
        </TextLink>
      )}
      {detail !== null && (
        <Text size="sm" c="dimmed">
          {detail}
        </Text>
      )}
    </>
  );
}

function Actions({ run: { id, status }, steps }: { run: Row; steps: readonly string[] }) {
  const canWrite = usePermission('write');
  const [asked, setAsked] = useState<'move' | 'remove'>();
  const close = () => setAsked(undefined);
  const pause = useApiAction(PAUSE);
  const resume = useApiAction(RESUME);
  const remove = useApiMutation(REMOVE);
  if (!canWrite) return null;
  const isPaused = status === 'paused';
  const change = async () => {
    if ((await (isPaused ? resume : pause).run({ id })) === undefined) return;
    notifySuccess(isPaused ? 'The contact continues.' : 'The contact stays at its step until you resume it.');
  };
  const confirmRemove = async () => {
    if ((await remove.run({ id })) === undefined) return;
    notifySuccess('The contact left the journey.');
    close();
  };
  return (
    <>
      <Button variant="default" loading={pause.running || resume.running} onClick={() => void change()}>
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
      <Button variant="default" onClick={() => setAsked('move')}>
        Move
      </Button>
      <Button variant="default" onClick={() => setAsked('remove')}>
        Remove
      </Button>
      <Dialog opened={asked === 'move'} onClose={close} title="Move to another step">
        <MoveForm id={id} steps={steps} onClose={close} />
      </Dialog>
      <Confirm
        opened={asked === 'remove'}
        onClose={close}
        title="Remove this contact from the journey?"
        action="Remove"
        running={remove.running}
        problem={remove.problem}
        onConfirm={() => void confirmRemove()}
      >
        The contact skips the remaining steps. Its history is kept.
      </Confirm>
    </>
  );
}

function MoveForm({ id, steps, onClose }: { id: string; steps: readonly string[]; onClose: () => void }) {
  const [stepId, setStepId] = useState<string | null>(null);
  const move = useApiMutation(MOVE);
  const submit = async () => {
    if (stepId === null || (await move.run({ id, stepId })) === undefined) return;
    notifySuccess(`Moved to ${stepId}.`);
    onClose();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Stack>
        <FormProblem problem={move.problem} fields={['stepId']} />
        <Select
          label="Step"
          data-autofocus
          data={[...steps]}
          value={stepId}
          error={move.problem?.fields.stepId}
          onChange={setStepId}
        />
        <Group justify="flex-end">
          <FormButtons submit="Move" running={move.running} disabled={stepId === null} onCancel={onClose} />
        </Group>
      </Stack>
    </form>
  );
}
