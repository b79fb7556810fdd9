import { useParams } from '@tanstack/react-router';
import { useProject } from '../../app/session.tsx';
import { useApiQuery } from '../../data/api-query.ts';
import { usePolling } from '../../data/polling.ts';
import { graphql } from '../../generated/gql.ts';
import { TextLink } from '../../components/link.tsx';
import { BackLabel, Page } from '../../components/page.tsx';
import { LinesSkeleton, QueryResult } from '../../components/states.tsx';
import { useChoices } from './choices.ts';
import { JourneyEditor } from './editor.tsx';

const JOURNEY = graphql(`
  query Journey($id: ID!) {
    journey(id: $id) {
      id
      name
      status
      definition
      version
      publishedVersion
      publishedDefinition
      publishedAt
      pausedReason
      waitingEvents
      updatedAt
      editedById
      editedByName
      workflowUrl
      problems {
        field
        message
        stepId
      }
      inProgress {
        version
        stepId
        contactCount
        dueWithinDay
        hasMatch
      }
      passages {
        stepId
        outcome
        toStepId
        runCount
      }
      runs {
        active
        paused
        completed
        exited
        reachedGoal
      }
    }
  }
`);

/** A journey: its figures, its steps, and the contacts in it. */
export function Journey() {
  const { journeyId } = useParams({ from: '/auth/p/$projectId/journeys/$journeyId' });
  const { id: projectId } = useProject();
  const journey = useApiQuery(JOURNEY, { id: journeyId });
  const choices = useChoices();
  const row = journey.data?.journey;
  usePolling(journey.again, row?.status === 'active');
  const back = (
    <TextLink to="/p/$projectId/journeys" params={{ projectId }} size="sm">
      <BackLabel>Journeys</BackLabel>
    </TextLink>
  );
  if (row !== undefined && choices !== undefined)
    return <JourneyEditor key={row.id} journey={row} choices={choices} back={back} />;
  return (
    <Page title={row?.name ?? 'Journey'} back={back}>
      <QueryResult of={journey}>{() => <LinesSkeleton />}</QueryResult>
    </Page>
  );
}
