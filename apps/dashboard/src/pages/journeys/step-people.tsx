import { Group, Stack, Text } from '@mantine/core';
import { useProject } from '../../app/session.tsx';
import { useApiQuery } from '../../data/api-query.ts';
import { usePolling } from '../../data/polling.ts';
import { graphql } from '../../generated/gql.ts';
import { countOf } from '../../components/numbers.ts';
import { TextLink } from '../../components/link.tsx';
import { QueryResult } from '../../components/states.tsx';
import { labelOf } from '../audience/contact-link.tsx';
import { number } from '../campaigns/campaign-labels.ts';
import type { Counts } from './counts.ts';
import { outcomeLabel } from './labels.ts';
import { nextOf } from './people.tsx';

const AT_STEP = graphql(`
  query EnrollmentsAtStep($journeyId: ID!, $stepId: String!) {
    active: enrollments(first: 5, journeyId: $journeyId, stepId: $stepId, status: active) {
      nodes {
        ...EnrollmentAtStep
      }
    }
    paused: enrollments(first: 5, journeyId: $journeyId, stepId: $stepId, status: paused) {
      nodes {
        ...EnrollmentAtStep
      }
    }
  }
  fragment EnrollmentAtStep on Enrollment {
    id
    status
    dueAt
    waitsFor
    endReason
    contact {
      id
      name
      hasName
      email
    }
  }
`);

/** How many are listed next to the graph. */
const SHOWN = 5;

const waitInWords = (run: { waitsFor: string | null; dueAt: string | null; endReason: string | null }) =>
  run.waitsFor === null && run.dueAt !== null ? `Waits until ${nextOf(run)}` : nextOf(run) || 'Moves on now';

/** Who is at a step and why, and how contacts left it. */
export function StepPeople({
  journeyId,
  stepId,
  counts,
  isActive,
}: {
  journeyId: string;
  stepId: string;
  counts: Counts;
  isActive: boolean;
}) {
  const { id: projectId } = useProject();
  const people = useApiQuery(AT_STEP, { journeyId, stepId });
  usePolling(people.again, isActive);
  const here = counts.here(stepId);
  const outcomes = counts.outcomes(stepId);
  return (
    <Stack gap={6} role="group" aria-label="Contacts">
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={550}>
          {here === 0 ? 'No contacts here now' : `${countOf(here, 'contact')} here now`}
        </Text>
        <TextLink to="." search={{ step: stepId } as never} hash="people" size="sm">
          Show in the list
        </TextLink>
      </Group>
      <QueryResult of={people} skeleton={null}>
        {({ active, paused }) => (
          <ul className="plain-list">
            {[...active.nodes, ...paused.nodes].slice(0, SHOWN).map(({ contact, ...run }) => (
              <Group component="li" key={run.id} gap={6} py={3} className="divided">
                <TextLink
                  to="/p/$projectId/enrollments/$enrollmentId"
                  params={{ projectId, enrollmentId: run.id }}
                  size="sm"
                  className="breakable"
                >
                  {contact === null ? 'Deleted' : labelOf(contact)}
                </TextLink>
                <Text size="xs" c="dimmed">
                  {run.status === 'paused' ? 'Paused' : waitInWords(run)}
                </Text>
              </Group>
            ))}
          </ul>
        )}
      </QueryResult>
      {outcomes.length > 0 && (
        <Text size="xs" c="dimmed">
          So far: {outcomes.map(({ outcome, count }) => `${outcomeLabel(outcome)} ${number(count)}`).join(' · ')}
        </Text>
      )}
    </Stack>
  );
}
