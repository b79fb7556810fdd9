import { type DefinitionProblem } from '@postroom/journey-definition';
import { actorName, EDITED_BY } from '@postroom/projects';
import {
  NAME_PART,
  atMost,
  authenticated,
  batchLoader,
  builder,
  callerProject,
  type Context,
  db,
  JSON_OBJECT,
  MAX_NAME_LENGTH,
  NAME,
  Node,
  NOT_EMPTY,
  notNull,
  registerNode,
  relayNames,
  workflowUrl,
} from '@postroom/platform';
import { countRuns, type RunCounts } from '../enrollments.ts';
import {
  archiveJourney,
  createJourney,
  findJourneys,
  getJourney,
  JOURNEY_ID,
  type Journey as JourneyRow,
  listJourneys,
  pauseJourney,
  problemsOf,
  publishJourney,
  resumeJourney,
  updateJourney,
} from '../journeys.ts';
import { countWaiting, MAX_WAITING, type WaitingEvents } from '../waiting-events.ts';
import { countAtSteps, countDueWithinDay, type InProgress, type StepCount, withMatches } from '../new-version.ts';
import { countPassages, type Passage } from '../passages.ts';
import { type JourneyVersion as Version, listVersions, publishedDefinitions } from '../versions.ts';
import { journeyId, SHORT, STEP_ID } from './members.ts';

const DEFINITION = 'The entry, the steps, and rules for the whole journey; see the reference of journeys.';

const JourneyStatus = builder.enumType('JourneyStatus', {
  description: 'The state of a journey.',
  values: {
    draft: { description: 'It has never been published.' },
    active: { description: 'Contacts enter it and go through its steps.' },
    paused: {
      description: 'Contacts stay at their steps. Events that arrive in the meantime are processed on resume.',
    },
    archived: { description: 'It has ended permanently, with all its runs.' },
  } satisfies Record<JourneyRow['status'], { description: string }>,
});

const InProgressAction = builder.enumType('JourneyInProgressAction', {
  description: 'What happens to contacts that are on earlier versions when a version is published.',
  values: {
    finish: { description: 'They finish on their version.' },
    move: {
      description: 'They move to the step with the same id and type; those without one finish on their version.',
    },
    exit: { description: 'Their runs end.' },
  } satisfies Record<InProgress, { description: string }>,
});

const WaitingAction = builder.enumType('JourneyWaitingAction', {
  description: 'What to do on resume with the events that arrived while a journey was paused.',
  values: {
    process: { description: 'They are processed in order: contacts enter, stop waiting and reach the goal.' },
    discard: { description: 'They are discarded.' },
  } satisfies Record<WaitingEvents, { description: string }>,
});

const Problem = builder.objectRef<DefinitionProblem>('JourneyProblem').implement({
  description: 'A problem that prevents a draft from being published.',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'Its path, such as `definition.steps.2.templateId`.' }),
    message: t.exposeString('message', { description: 'What is wrong.' }),
    stepId: t.exposeString('stepId', {
      nullable: true,
      description: 'The step that has the problem; null if it is not in a step.',
      ...STEP_ID,
    }),
  }),
});

const InProgressCount = builder.objectRef<StepCount>('JourneyInProgress').implement({
  description: 'The contacts at a step.',
  fields: (t) => ({
    version: t.exposeInt('version', { description: 'The version that they follow.' }),
    stepId: t.exposeString('stepId', { description: 'The step.', ...STEP_ID }),
    contactCount: t.exposeInt('contactCount', { description: 'The number of contacts.' }),
    dueWithinDay: t.int({
      description: 'The number of them that leave the step within a day.',
      resolve: async ({ journeyId, version, stepId }, _args, context) =>
        (await loadDue(context, journeyId))?.find((due) => due.version === version && due.stepId === stepId)
          ?.dueCount ?? 0,
    }),
    hasMatch: t.exposeBoolean('hasMatch', {
      description: 'Whether the draft has a step with this id and type, to which `move` would take them.',
    }),
  }),
});

const Runs = builder.objectRef<RunCounts>('JourneyRuns').implement({
  description: 'Runs of a journey by outcome.',
  fields: (t) => ({
    active: t.exposeInt('active', { description: 'In progress.' }),
    paused: t.exposeInt('paused', { description: 'In progress, but paused for this contact.' }),
    completed: t.exposeInt('completed', { description: 'Reached an end of the journey.' }),
    exited: t.exposeInt('exited', { description: 'Ended otherwise.' }),
    reachedGoal: t.exposeInt('reachedGoal', { description: 'Of those that exited: reached the goal.' }),
  }),
});

const PassageCount = builder.objectRef<Passage>('JourneyPassage').implement({
  description:
    'How many runs went from a step to another with an outcome, on all versions, including runs that retention has deleted.',
  fields: (t) => ({
    stepId: t.exposeString('stepId', {
      nullable: true,
      description: 'The step that they left; null if they entered.',
      ...STEP_ID,
    }),
    outcome: t.exposeString('outcome', {
      nullable: true,
      description: 'The outcome with which they left it, as in `EnrollmentStep`; null if they entered.',
      ...SHORT,
    }),
    toStepId: t.exposeString('toStepId', {
      nullable: true,
      description: 'The step that they reached; null if their run ended.',
      ...STEP_ID,
    }),
    runCount: t.exposeInt('runCount', { description: 'The number of passages; a run that loops counts each time.' }),
  }),
});

const loadPassages = batchLoader((context: Context, ids: readonly string[]) =>
  countPassages(callerProject(context), ids),
);
const loadRuns = batchLoader((context: Context, ids: readonly string[]) => countRuns(callerProject(context), ids));
const loadPublished = batchLoader((_context, ids: readonly string[]) => publishedDefinitions(ids));
const loadDue = batchLoader((context: Context, ids: readonly string[]) =>
  countDueWithinDay(callerProject(context), ids),
);
const loadAtSteps = batchLoader((context: Context, ids: readonly string[]) =>
  countAtSteps(callerProject(context), ids),
);

const Journey = builder.prismaObject('Journey', {
  interfaces: [Node],
  description: 'An automation: contacts enter it and go through its steps.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Journey id; also the id of its workflow in Temporal.' }),
    name: t.exposeString('name', { description: 'Unique within the project.', ...atMost(MAX_NAME_LENGTH) }),
    status: t.expose('status', { type: JourneyStatus, description: 'The state of the journey.' }),
    definition: t.expose('draft', { type: 'JSON', description: `The draft. ${DEFINITION}`, ...JSON_OBJECT }),
    problems: t.field({
      type: [Problem],
      description: 'The problems that prevent the draft from being published; empty if there are none.',
      complexity: 20,
      resolve: ({ projectId, draft }) => problemsOf(projectId, draft),
    }),
    version: t.exposeInt('version', {
      description: 'The number of edits of the draft; pass it to `updateJourney` and `publishJourney`.',
    }),
    publishedVersion: t.exposeInt('publishedVersion', {
      nullable: true,
      description: 'The version that contacts enter; null until it is published.',
    }),
    publishedDefinition: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The definition of `publishedVersion`; null until it is published.',
      ...JSON_OBJECT,
      resolve: async ({ id }, _args, context) => (await loadPublished(context, id)) ?? null,
    }),
    pausedReason: t.exposeString('pausedReason', {
      nullable: true,
      description: 'Why it was paused automatically; null if it was paused by request.',
    }),
    inProgress: t.field({
      type: [InProgressCount],
      description: 'Where contacts are, by version and step, and whether publishing the draft can move them.',
      complexity: 100,
      resolve: async ({ id, draft }, _args, context) => withMatches((await loadAtSteps(context, id)) ?? [], draft),
    }),
    waitingEvents: t.int({
      description: `The number of events that arrived while it was paused, and are processed or discarded on resume; counted up to ${MAX_WAITING}.`,
      complexity: 20,
      resolve: ({ id, status }) => (status === 'paused' ? countWaiting(id) : 0),
    }),
    runs: t.field({
      type: Runs,
      description: 'Its runs by outcome, without those that retention has deleted.',
      complexity: 100,
      resolve: async ({ id }, _args, context) => (await loadRuns(context, id)) as RunCounts,
    }),
    passages: t.field({
      type: [PassageCount],
      description: 'The number of runs that went from each step to the next.',
      complexity: 20,
      resolve: async ({ id }, _args, context) => (await loadPassages(context, id)) ?? [],
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    publishedAt: t.expose('publishedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last published.',
    }),
    editedById: t.exposeID('editedById', EDITED_BY.id),
    editedByName: t.string(EDITED_BY.name),
    workflowUrl: t.string({
      nullable: true,
      description: 'Its workflow in the Temporal UI; null if the UI address is not configured.',
      resolve: ({ id }) => workflowUrl(id),
    }),
  }),
});

const JourneyVersion = builder.objectRef<Version>('JourneyVersion').implement({
  description: 'A published version of a journey. It never changes.',
  fields: (t) => ({
    number: t.exposeInt('number', { description: 'Counted from 1 in each journey.' }),
    definition: t.expose('definition', { type: 'JSON', description: DEFINITION, ...JSON_OBJECT }),
    publishedAt: t.expose('publishedAt', { type: 'DateTime', description: 'When it was published.' }),
    publishedById: t.exposeID('publishedById', { description: 'Who published it, `usr_…` or `key_…`.' }),
    publishedByName: t.string({
      nullable: true,
      description: EDITED_BY.name.description,
      ...atMost(MAX_NAME_LENGTH),
      resolve: ({ publishedById }) => actorName(publishedById),
    }),
  }),
});

registerNode(JOURNEY_ID, 'Journey', (context, ids) => findJourneys(callerProject(context), ids), 'read', {
  select: `SELECT id, name, status::text, draft AS definition, published_version AS "publishedVersion"
    FROM journeys WHERE id = ANY ($1::text[]) AND project_id = $2`,
});

builder.queryFields((t) => ({
  journey: t.prismaField({
    type: Journey,
    description: 'A journey of the project; `not_found` if it does not exist.',
    args: { id: t.arg.id(journeyId) },
    resolve: (query, _root, { id }, context) => getJourney(callerProject(context), id, query),
  }),
  journeys: t.connection(
    {
      type: Journey,
      description: "The project's journeys, newest first.",
      args: {
        search: t.arg.string(NAME_PART),
        status: t.arg({
          type: JourneyStatus,
          description: 'Only journeys in this state; all except archived ones if omitted.',
        }),
      },
      resolve: (_root, args, context) => listJourneys(callerProject(context), args),
    },
    ...relayNames('Journey'),
  ),
  journeyVersions: t.connection(
    {
      type: JourneyVersion,
      description: 'The published versions of a journey, newest first.',
      args: {
        journeyId: t.arg.id(journeyId),
        number: t.arg.int({ description: 'Only this one.' }),
      },
      resolve: (_root, { journeyId: id, ...args }, context) => listVersions(callerProject(context), id, args),
    },
    ...relayNames('JourneyVersion'),
  ),
}));

const CreateJourneyInput = builder.inputType('CreateJourneyInput', {
  description: 'A new journey, saved as a draft.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Unique within the project; 1 to 200 characters.', ...NAME }),
    definition: t.field({ type: 'JSON', description: DEFINITION, ...JSON_OBJECT }),
  }),
});

const UpdateJourneyInput = builder.inputType('UpdateJourneyInput', {
  ...NOT_EMPTY,
  description: 'Fields to update; omitted fields are unchanged.',
  fields: (t) => ({
    name: t.string({ description: 'A new name, unique within the project.', ...notNull(NAME) }),
    definition: t.field({
      type: 'JSON',
      description: `Replaces the draft. ${DEFINITION}`,
      ...notNull(JSON_OBJECT),
    }),
    version: t.int({ description: 'The version that the edit is based on; `conflict` if it is not the current one.' }),
  }),
});

const PublishJourneyInput = builder.inputType('PublishJourneyInput', {
  description: 'How to publish a draft.',
  fields: (t) => ({
    inProgress: t.field({
      type: InProgressAction,
      description: 'What happens to contacts that are on earlier versions; `finish` by default.',
    }),
    version: t.int({ description: 'The version of the draft; `conflict` if it is not the current one.' }),
  }),
});

builder.mutationFields((t) => ({
  createJourney: t.prismaField({
    type: Journey,
    description: 'Saves a journey as a draft, which may be incomplete.',
    args: { input: t.arg({ type: CreateJourneyInput, required: true, description: 'The journey.' }) },
    resolve: async (query, _root, { input }, context) => {
      const { id } = await createJourney(callerProject(context), authenticated(context).id, input);
      return db.journey.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  updateJourney: t.prismaField({
    type: Journey,
    description: 'Changes the name or the draft. Contacts in the journey are not affected until it is published.',
    args: {
      id: t.arg.id(journeyId),
      input: t.arg({ type: UpdateJourneyInput, required: true, description: 'The changes.' }),
    },
    resolve: async (query, _root, { id, input }, context) => {
      await updateJourney(callerProject(context), authenticated(context).id, id, input);
      return db.journey.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  publishJourney: t.prismaField({
    type: Journey,
    description:
      'Publishes the draft as a version that contacts enter from now on, and starts the journey. Rejects a draft with problems.',
    args: { id: t.arg.id(journeyId), input: t.arg({ type: PublishJourneyInput, description: 'How to publish it.' }) },
    resolve: async (query, _root, { id, input }, context) => {
      await publishJourney(callerProject(context), authenticated(context).id, id, {
        inProgress: input?.inProgress ?? undefined,
        version: input?.version,
      });
      return db.journey.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  pauseJourney: t.prismaField({
    type: Journey,
    description:
      'Pauses a journey for all contacts. Events that arrive in the meantime are processed or discarded on resume.',
    args: { id: t.arg.id(journeyId) },
    resolve: async (query, _root, { id }, context) => {
      await pauseJourney(callerProject(context), id);
      return db.journey.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  resumeJourney: t.prismaField({
    type: Journey,
    description: 'Resumes a paused journey. Steps that became due in the meantime are carried out now.',
    args: {
      id: t.arg.id(journeyId),
      waiting: t.arg({ type: WaitingAction, description: 'What to do with `waitingEvents`; `process` by default.' }),
    },
    resolve: async (query, _root, { id, waiting }, context) => {
      await resumeJourney(callerProject(context), id, waiting ?? 'process');
      return db.journey.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  archiveJourney: t.prismaField({
    type: Journey,
    description: 'Ends a journey permanently, with all its runs.',
    args: { id: t.arg.id(journeyId) },
    resolve: async (query, _root, { id }, context) => {
      await archiveJourney(callerProject(context), id);
      return db.journey.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
}));
