import { Contact, loadContact } from '@postroom/contacts/graphql';
import {
  atMost,
  batchLoader,
  builder,
  callerProject,
  JSON_OBJECT,
  jsonSchema,
  listOf,
  MAX_EVENT_NAME_LENGTH,
  MAX_ID_LENGTH,
  Node,
  NOT_EMPTY,
  registerNode,
  relayNames,
} from '@postroom/platform';
import {
  type Enrollment as EnrollmentRow,
  ENROLLMENT_ID,
  enrollContacts,
  type EntryOutcome,
  type EntryResult,
  findEnrollments,
  getEnrollment,
  type LeftStep,
  listEnrollments,
  listSteps,
  MAX_ENROLLED,
  MAX_RECENT_STEPS,
  moveEnrollment,
  recentSteps,
  removeEnrollment,
  setEnrollmentPaused,
} from '../enrollments.ts';
import { journeyId, SHORT, STEP_ID } from './members.ts';

const EnrollmentStatus = builder.enumType('EnrollmentStatus', {
  description: 'The state of a run.',
  values: {
    active: { description: 'The contact waits, or its next step is about to be carried out.' },
    paused: { description: 'The run of this contact is paused.' },
    completed: { description: 'The contact reached an end of the journey.' },
    exited: { description: 'The run ended for another reason; `endReason` says why.' },
  } satisfies Record<EnrollmentRow['status'], { description: string }>,
});

const loadSteps = batchLoader((_context, ids: readonly string[]) => recentSteps(ids));

const EnrollmentStep = builder.objectRef<LeftStep>('EnrollmentStep').implement({
  description: 'A step that a run has left.',
  fields: (t) => ({
    stepId: t.exposeString('stepId', { description: 'The step.', ...STEP_ID }),
    arrivedAt: t.expose('arrivedAt', { type: 'DateTime', description: 'When the contact reached it.' }),
    leftAt: t.expose('leftAt', { type: 'DateTime', description: 'When it was carried out.' }),
    outcome: t.exposeString('outcome', {
      description: 'Such as `sent`, `suppressed`, `yes`, `timeout` or `moved`.',
      ...SHORT,
    }),
    detail: t.exposeString('detail', {
      nullable: true,
      description: 'Why the step had no effect, or the response of the URL that it called.',
    }),
    messageId: t.exposeID('messageId', { nullable: true, description: 'The id of the email that the step sent.' }),
  }),
});

const Enrollment = builder.prismaObject('Enrollment', {
  interfaces: [Node],
  description: "A contact's run through a journey.",
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Enrollment id.' }),
    journeyId: t.exposeID('journeyId', { description: 'The journey.' }),
    contactId: t.exposeID('contactId', { description: 'The contact, which may have been deleted.' }),
    contact: t.field({
      type: Contact,
      nullable: true,
      description: 'The contact; null if it was deleted.',
      select: { contactId: true },
      resolve: async ({ contactId }, _args, context) => (await loadContact(context, contactId)) ?? null,
    }),
    version: t.exposeInt('version', { description: 'The version of the journey that the run follows.' }),
    status: t.expose('status', { type: EnrollmentStatus, description: 'The state of the run.' }),
    stepId: t.exposeString('stepId', { description: 'The step that it is at, or was at when it ended.', ...STEP_ID }),
    dueAt: t.expose('dueAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'When the step is carried out; null if it waits for an event without a timeout or for the response of a URL, or has ended.',
    }),
    waitsFor: t.exposeString('waitsFor', {
      nullable: true,
      description: 'The name of the event that the run waits for.',
      ...atMost(MAX_EVENT_NAME_LENGTH),
    }),
    properties: t.expose('properties', {
      type: 'JSON',
      description: 'The properties of the event that the contact entered with.',
      ...JSON_OBJECT,
    }),
    steps: t.field({
      type: [EnrollmentStep],
      description: `The steps that it has left, in order: the last ${MAX_RECENT_STEPS}. \`enrollmentSteps\` lists all.`,
      complexity: { field: 1, multiplier: 1 }, // most runs have a few
      select: { id: true },
      resolve: async ({ id }, _args, context) => (await loadSteps(context, id)) ?? [],
    }),
    enteredAt: t.expose('enteredAt', { type: 'DateTime', description: 'When the contact entered.' }),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true, description: 'When it ended.' }),
    endReason: t.exposeString('endReason', {
      nullable: true,
      description:
        'Why it ended: `completed`, `exit`, `goal`, `removed`, `new_version`, `journey_archived` or `contact_deleted`.',
      ...SHORT,
    }),
  }),
});

registerNode(ENROLLMENT_ID, 'Enrollment', (context, ids) => findEnrollments(callerProject(context), ids), 'read', {
  select: `SELECT e.id, j.name, e.status::text, e.step_id AS "stepId" FROM enrollments e JOIN journeys j ON j.id = e.journey_id
    WHERE e.id = ANY ($1::text[]) AND e.project_id = $2`,
});

const enrollmentId = { required: true, description: 'Enrollment id.' } as const;

builder.queryFields((t) => ({
  enrollment: t.field({
    type: Enrollment,
    description: 'A run; `not_found` if it does not exist.',
    args: { id: t.arg.id(enrollmentId) },
    resolve: (_root, { id }, context) => getEnrollment(callerProject(context), id),
  }),
  enrollmentSteps: t.connection(
    {
      type: EnrollmentStep,
      description: 'The steps that a run has left, newest first.',
      args: { enrollmentId: t.arg.id(enrollmentId) },
      resolve: (_root, { enrollmentId: id, ...page }, context) => listSteps(callerProject(context), id, page),
    },
    ...relayNames('EnrollmentStep'),
  ),
  enrollments: t.connection(
    {
      type: Enrollment,
      description: 'Runs of a journey or of a contact, newest first.',
      args: {
        journeyId: t.arg.id({ description: 'Only runs of this journey.' }),
        contactId: t.arg.id({ description: 'Those of this contact.' }),
        stepId: t.arg.string({ description: 'Only runs that are at this step, or ended there.' }),
        status: t.arg({ type: EnrollmentStatus, description: 'Those in this state.' }),
      },
      resolve: (_root, args, context) => listEnrollments(callerProject(context), args),
    },
    ...relayNames('Enrollment'),
  ),
}));

const EntryOutcomeType = builder.enumType('EnrollmentOutcome', {
  description: 'The outcome of enrolling a contact.',
  values: {
    enrolled: { description: 'It entered.' },
    in_progress: { description: 'It is already in the journey.' },
    not_again: { description: 'It was in the journey before and may not enter again, or not yet.' },
    not_matching: { description: 'It does not match the filter of the entry.' },
    unknown: { description: 'The project has no such contact.' },
  } satisfies Record<EntryOutcome, { description: string }>,
});

const EnrollResult = builder.objectRef<EntryResult>('EnrollResult').implement({
  description: 'The result of one contact.',
  fields: (t) => ({
    index: t.exposeInt('index', { description: 'Its position in the request, ids before addresses, from 0.' }),
    contactId: t.exposeID('contactId', { nullable: true, description: 'The contact; null if there is none.' }),
    outcome: t.expose('outcome', { type: EntryOutcomeType, description: 'Its outcome.' }),
  }),
});

const EnrollPayload = builder.objectRef<{ results: EntryResult[] }>('EnrollContactsPayload').implement({
  description: 'What `enrollContacts` did.',
  fields: (t) => ({
    enrolled: t.int({
      description: 'How many contacts entered; one that is named several times counts once.',
      resolve: ({ results }) =>
        new Set(results.flatMap(({ outcome, contactId }) => (outcome === 'enrolled' ? [contactId] : []))).size,
    }),
    results: t.expose('results', {
      type: [EnrollResult],
      description: 'One result per contact, in the order of the request.',
    }),
  }),
});

const EnrollContactsInput = builder.inputType('EnrollContactsInput', {
  description: `The contacts to enroll; at most ${MAX_ENROLLED}.`,
  ...NOT_EMPTY,
  fields: (t) => ({
    contactIds: t.idList({
      description: 'By id.',
      ...listOf({ maxLength: MAX_ID_LENGTH }, { maxItems: MAX_ENROLLED }),
    }),
    emails: t.stringList({ description: 'By address.', ...jsonSchema({ maxItems: MAX_ENROLLED }) }),
    properties: t.field({
      type: 'JSON',
      description: 'The properties that conditions and templates of the journey read as `event`.',
      ...JSON_OBJECT,
    }),
  }),
});

builder.mutationFields((t) => ({
  enrollContacts: t.field({
    type: EnrollPayload,
    description: 'Enrolls contacts in an active journey, regardless of its entry.',
    args: {
      id: t.arg.id(journeyId),
      input: t.arg({ type: EnrollContactsInput, required: true, description: 'The contacts.' }),
    },
    resolve: async (_root, { id, input }, context) => ({
      results: await enrollContacts(callerProject(context), id, input),
    }),
  }),
  removeEnrollment: t.field({
    type: Enrollment,
    description: 'Ends the run of one contact.',
    args: { id: t.arg.id(enrollmentId) },
    resolve: async (_root, { id }, context) => {
      await removeEnrollment(callerProject(context), id);
      return getEnrollment(callerProject(context), id);
    },
  }),
  moveEnrollment: t.field({
    type: Enrollment,
    description: 'Moves the run of one contact to another step.',
    args: {
      id: t.arg.id(enrollmentId),
      stepId: t.arg.string({ required: true, description: 'A step of the version that the run follows.' }),
    },
    resolve: async (_root, { id, stepId }, context) => {
      await moveEnrollment(callerProject(context), id, stepId);
      return getEnrollment(callerProject(context), id);
    },
  }),
  pauseEnrollment: t.field({
    type: Enrollment,
    description: 'Pauses the run of one contact.',
    args: { id: t.arg.id(enrollmentId) },
    resolve: async (_root, { id }, context) => {
      await setEnrollmentPaused(callerProject(context), id, true);
      return getEnrollment(callerProject(context), id);
    },
  }),
  resumeEnrollment: t.field({
    type: Enrollment,
    description: 'Resumes the run of one contact. A step that became due in the meantime is carried out now.',
    args: { id: t.arg.id(enrollmentId) },
    resolve: async (_root, { id }, context) => {
      await setEnrollmentPaused(callerProject(context), id, false);
      return getEnrollment(callerProject(context), id);
    },
  }),
}));
