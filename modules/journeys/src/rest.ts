import { created, found, gql, page, PAGE, PAGE_ARGS, restPath, type Route } from '@postroom/platform';

const tag = 'Journeys';
const JOURNEY = 'id name status definition version publishedVersion pausedReason createdAt updatedAt publishedAt';
const DETAIL = `${JOURNEY} waitingEvents publishedDefinition problems { field message stepId }
  runs { active paused completed exited reachedGoal }
  inProgress { version stepId contactCount dueWithinDay hasMatch }
  passages { stepId outcome toStepId runCount }`;
/** Problems name fields as `/v1` does. */
const PROBLEMS = { problems: { problems: restPath } };
const RUN = `id journeyId contactId version status stepId dueAt waitsFor properties enteredAt endedAt endReason
  steps { stepId arrivedAt leftAt outcome detail messageId }`;

const WELCOME = {
  name: 'Welcome',
  definition: {
    entry: { type: 'event', event: 'signed up' },
    goal: { event: 'order placed' },
    steps: [
      {
        id: 'welcome',
        type: 'send',
        template_id: 'tpl_01k9zq3v5re8rt5xw7m2n4p6q8',
        from: 'Ada <ada@example.com>',
        next: 'later',
      },
      { id: 'later', type: 'wait', for: { days: 3 }, next: 'vip' },
      { id: 'vip', type: 'update_field', field: 'custom_fields.plan', value: 'trial' },
    ],
  },
};

export const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/journeys',
    needs: 'full',
    tag,
    summary: 'List journeys, newest first',
    document: gql`query (${PAGE_ARGS}, $status: JourneyStatus, $search: String) {
      journeys(first: $limit, after: $cursor, status: $status, search: $search) { nodes { ${JOURNEY} } ${PAGE} }
    }`,
    reply: page('journeys'),
  },
  {
    method: 'POST',
    path: '/v1/journeys',
    needs: 'full',
    tag,
    summary: 'Save a journey as a draft',
    document: gql`mutation ($input: CreateJourneyInput!) { createJourney(input: $input) { ${DETAIL} } }`,
    reply: created('createJourney', PROBLEMS),
    example: WELCOME,
  },
  {
    method: 'GET',
    path: '/v1/journeys/{id}',
    needs: 'full',
    tag,
    summary:
      'Retrieve a journey, its published definition, the problems of its draft, and how contacts move through it',
    document: gql`query ($id: ID!) {
      journey(id: $id) { ${DETAIL} }
    }`,
    reply: found('journey', PROBLEMS),
  },
  {
    method: 'PATCH',
    path: '/v1/journeys/{id}',
    needs: 'full',
    tag,
    summary: 'Change the name or the draft of a journey',
    document: gql`mutation ($id: ID!, $input: UpdateJourneyInput!) { updateJourney(id: $id, input: $input) { ${DETAIL} } }`,
    reply: found('updateJourney', PROBLEMS),
    example: { name: 'Welcome new customers', version: 1 },
  },
  {
    method: 'GET',
    path: '/v1/journeys/{id}/versions',
    needs: 'full',
    tag,
    summary: 'List the published versions of a journey, newest first',
    document: gql`query ($id: ID!, ${PAGE_ARGS}, $number: Int) {
      journeyVersions(journeyId: $id, first: $limit, after: $cursor, number: $number) { nodes { number definition publishedAt publishedById publishedByName } ${PAGE} }
    }`,
    reply: page('journeyVersions'),
  },
  {
    method: 'POST',
    path: '/v1/journeys/{id}/publish',
    needs: 'full',
    tag,
    summary: 'Publish the draft of a journey and start it',
    document: gql`mutation ($id: ID!, $input: PublishJourneyInput) { publishJourney(id: $id, input: $input) { ${JOURNEY} } }`,
    reply: found('publishJourney'),
    example: { in_progress: 'finish' },
  },
  {
    method: 'POST',
    path: '/v1/journeys/{id}/pause',
    needs: 'full',
    tag,
    summary: 'Pause a journey for all contacts',
    document: gql`mutation ($id: ID!) { pauseJourney(id: $id) { ${JOURNEY} } }`,
    reply: found('pauseJourney'),
  },
  {
    method: 'POST',
    path: '/v1/journeys/{id}/resume',
    needs: 'full',
    tag,
    summary: 'Resume a paused journey',
    document: gql`mutation ($id: ID!, $waiting: JourneyWaitingAction) { resumeJourney(id: $id, waiting: $waiting) { ${JOURNEY} } }`,
    reply: found('resumeJourney'),
    example: { waiting: 'process' },
  },
  {
    method: 'POST',
    path: '/v1/journeys/{id}/archive',
    needs: 'full',
    tag,
    summary: 'End a journey permanently, with all its runs',
    document: gql`mutation ($id: ID!) { archiveJourney(id: $id) { ${JOURNEY} } }`,
    reply: found('archiveJourney'),
  },
  {
    method: 'POST',
    path: '/v1/journeys/{id}/enrollments',
    needs: 'full',
    tag,
    summary: 'Let contacts enter a journey',
    document: gql`
      mutation ($id: ID!, $input: EnrollContactsInput!) {
        enrollContacts(id: $id, input: $input) {
          enrolled
          results {
            index
            contactId
            outcome
          }
        }
      }
    `,
    reply: found('enrollContacts'),
    example: { emails: ['ada@example.com'], properties: { plan: 'pro' } },
  },
  {
    method: 'GET',
    path: '/v1/journeys/{id}/enrollments',
    needs: 'full',
    tag,
    summary: 'List the runs of a journey, newest first',
    document: gql`query ($id: ID!, ${PAGE_ARGS}, $contactId: ID, $stepId: String, $status: EnrollmentStatus) {
      enrollments(first: $limit, after: $cursor, journeyId: $id, contactId: $contactId, stepId: $stepId, status: $status) {
        nodes { ${RUN} } ${PAGE}
      }
    }`,
    reply: page('enrollments'),
  },
  {
    method: 'GET',
    path: '/v1/enrollments/{id}',
    needs: 'full',
    tag,
    summary: 'Retrieve a run with its last 50 steps',
    document: gql`query ($id: ID!) { enrollment(id: $id) { ${RUN} } }`,
    reply: found('enrollment'),
  },
  {
    method: 'GET',
    path: '/v1/enrollments/{id}/steps',
    needs: 'full',
    tag,
    summary: 'List the steps that a run has left, newest first',
    document: gql`query ($id: ID!, ${PAGE_ARGS}) {
      enrollmentSteps(enrollmentId: $id, first: $limit, after: $cursor) { nodes { stepId arrivedAt leftAt outcome detail messageId } ${PAGE} }
    }`,
    reply: page('enrollmentSteps'),
  },
  {
    method: 'POST',
    path: '/v1/enrollments/{id}/move',
    needs: 'full',
    tag,
    summary: 'Move the run of a contact to another step',
    document: gql`mutation ($id: ID!, $stepId: String!) { moveEnrollment(id: $id, stepId: $stepId) { ${RUN} } }`,
    reply: found('moveEnrollment'),
    example: { step_id: 'welcome' },
  },
  {
    method: 'POST',
    path: '/v1/enrollments/{id}/pause',
    needs: 'full',
    tag,
    summary: 'Pause the run of a contact',
    document: gql`mutation ($id: ID!) { pauseEnrollment(id: $id) { ${RUN} } }`,
    reply: found('pauseEnrollment'),
  },
  {
    method: 'POST',
    path: '/v1/enrollments/{id}/resume',
    needs: 'full',
    tag,
    summary: 'Resume the run of a contact',
    document: gql`mutation ($id: ID!) { resumeEnrollment(id: $id) { ${RUN} } }`,
    reply: found('resumeEnrollment'),
  },
  {
    method: 'POST',
    path: '/v1/enrollments/{id}/remove',
    needs: 'full',
    tag,
    summary: 'End the run of a contact',
    document: gql`mutation ($id: ID!) { removeEnrollment(id: $id) { ${RUN} } }`,
    reply: found('removeEnrollment'),
  },
];
