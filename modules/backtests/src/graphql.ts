import { Contact, loadContact } from '@postroom/contacts/graphql';
import '@postroom/journeys/graphql';
import {
  atMost,
  authenticated,
  builder,
  callerProject,
  JSON_OBJECT,
  jsonSchema,
  listOf,
  Node,
  registerNode,
  relayNames,
  watchUntilFinal,
  workflowUrl,
} from '@postroom/platform';
import {
  BACKTEST_ID,
  type Backtest as BacktestRow,
  cancelBacktest,
  CONTACT_ROW_ID,
  findBacktests,
  findContactRows,
  getBacktest,
  listBacktestContacts,
  listBacktests,
  MAX_DAYS,
  RESULTS,
  startBacktest,
  topicOf,
} from './backtests.ts';
import { notesOf } from './notes.ts';
import type { Assumptions, SimulatedRun, SimulatedStep } from './simulate.ts';
import { type Difference, readTotals, type Side, type SideTotals } from './totals.ts';

const STEP_ID = atMost(50);
const SHORT = atMost(50);
/** Lists that are stored with their row cost no more than it. */
const STORED = { field: 1, multiplier: 1 };
/** A project has few backtests, whose figures are one column. */
const FIGURES = { field: 1, multiplier: 0 };

const BacktestStatus = builder.enumType('BacktestStatus', {
  description: 'The state of a backtest.',
  values: {
    running: { description: 'Contacts are being simulated, or it waits for a worker.' },
    completed: { description: 'All contacts were simulated.' },
    failed: {
      description: 'It could not continue; `error` says why. The figures cover the contacts simulated until then.',
    },
    canceled: { description: 'It was canceled. The figures cover the contacts simulated until then.' },
  } satisfies Record<BacktestRow['status'], { description: string }>,
});

const BacktestSide = builder.enumType('BacktestSide', {
  description: 'One of the two definitions of a backtest.',
  values: {
    candidate: { description: 'The definition under test.' },
    baseline: { description: 'The definition that the candidate is compared with.' },
  } satisfies Record<Side, { description: string }>,
});

const BacktestDifference = builder.enumType('BacktestDifference', {
  description: "How a contact's messages differ between the two definitions.",
  values: {
    none: { description: 'Both send the same messages at the same times, or neither sends any.' },
    candidate_only: { description: 'Only the candidate sends messages to it.' },
    baseline_only: { description: 'Only the baseline sends messages to it.' },
    times: { description: 'Both send the same messages, at different times.' },
    messages: { description: 'They send different messages, or a different number of them.' },
  } satisfies Record<Difference, { description: string }>,
});

const OutcomeCount = builder.objectRef<{ outcome: string; count: number }>('BacktestOutcome').implement({
  description: 'The number of times that a step was left with an outcome.',
  fields: (t) => ({
    outcome: t.exposeString('outcome', { description: 'The outcome, as in the steps of an enrollment.', ...SHORT }),
    count: t.exposeInt('count', { description: 'How often.' }),
  }),
});

interface StepRow {
  stepId: string;
  reached: number;
  waiting: number;
  outcomes: Record<string, number>;
}

const BacktestStep = builder.objectRef<StepRow>('BacktestStepTotals').implement({
  description: 'How runs passed through a step.',
  fields: (t) => ({
    stepId: t.exposeString('stepId', { description: 'The step.', ...STEP_ID }),
    reached: t.exposeInt('reached', { description: 'How often it was reached.' }),
    waiting: t.exposeInt('waiting', { description: 'How many runs are at the step at the end of the period.' }),
    outcomes: t.field({
      type: [OutcomeCount],
      description: 'How often the step was left, by outcome.',
      resolve: ({ outcomes }) => Object.entries(outcomes).map(([outcome, count]) => ({ outcome, count })),
    }),
  }),
});

interface SentRow {
  stepId: string;
  templateId: string | null;
  day: string;
  count: number;
}

const BacktestSent = builder.objectRef<SentRow>('BacktestMessages').implement({
  description: 'The messages of a step on a day.',
  fields: (t) => ({
    stepId: t.exposeString('stepId', { description: 'The step.', ...STEP_ID }),
    templateId: t.exposeID('templateId', { nullable: true, description: 'The template that it sends.' }),
    day: t.exposeString('day', { description: 'The day in UTC, such as 2026-11-25.', ...atMost(10) }),
    count: t.exposeInt('count', { description: 'How many messages.' }),
  }),
});

interface SideRow {
  totals: SideTotals;
  definition: { steps: { id: string; templateId?: string }[] };
  version: number | null;
}

const BacktestTotals = builder.objectRef<SideRow>('BacktestTotals').implement({
  description: 'The simulated results of one definition.',
  fields: (t) => ({
    definition: t.field({
      type: 'JSON',
      description: 'The definition.',
      ...JSON_OBJECT,
      resolve: ({ definition }) => definition,
    }),
    version: t.exposeInt('version', {
      nullable: true,
      description: 'The number of the published version; null if the definition is not one.',
    }),
    contacts: t.int({ description: 'Contacts that would have entered.', resolve: ({ totals }) => totals.contacts }),
    runs: t.int({ description: 'How often contacts would have entered.', resolve: ({ totals }) => totals.runs }),
    completed: t.int({ description: 'Runs that reached an end.', resolve: ({ totals }) => totals.completed }),
    exited: t.int({ description: 'Runs that ended for another reason.', resolve: ({ totals }) => totals.exited }),
    reachedGoal: t.int({
      description: 'Of those, the conversions: runs that ended because the contact reached the goal.',
      resolve: ({ totals }) => totals.reachedGoal,
    }),
    inProgress: t.int({ description: 'Runs that had not ended.', resolve: ({ totals }) => totals.inProgress }),
    messages: t.int({ description: 'Messages that would have been sent.', resolve: ({ totals }) => totals.messages }),
    notAgain: t.int({
      description: 'How often a contact was not allowed to enter again.',
      resolve: ({ totals }) => totals.notAgain,
    }),
    notMatching: t.int({
      description: 'How often a contact did not match the filter of the entry.',
      resolve: ({ totals }) => totals.notMatching,
    }),
    steps: t.field({
      type: [BacktestStep],
      description: 'The steps, in the order of the definition.',
      complexity: 20,
      resolve: ({ totals: { steps }, definition }) =>
        definition.steps.map(({ id }) => ({ stepId: id, ...(steps[id] ?? { reached: 0, waiting: 0, outcomes: {} }) })),
    }),
    sent: t.field({
      type: [BacktestSent],
      description: 'Messages by step and day. Days without any are left out.',
      complexity: 100,
      resolve: ({ totals: { sent }, definition }) =>
        definition.steps.flatMap(({ id, templateId = null }) =>
          Object.entries(sent[id] ?? {})
            .toSorted(([a], [b]) => (a < b ? -1 : 1))
            .map(([day, count]) => ({ stepId: id, templateId, day, count })),
        ),
    }),
  }),
});

const DifferenceCount = builder
  .objectRef<{ difference: Difference; contacts: number }>('BacktestDifferenceCount')
  .implement({
    description: 'The number of contacts with one kind of difference.',
    fields: (t) => ({
      difference: t.expose('difference', { type: BacktestDifference, description: 'The kind of difference.' }),
      contacts: t.exposeInt('contacts', { description: 'How many contacts.' }),
    }),
  });

const Assumed = builder.objectRef<Assumptions>('BacktestAssumptions').implement({
  description: 'Assumed outcomes of simulated messages, in percent of the messages.',
  fields: (t) => ({
    delivered: t.exposeFloat('delivered', { description: 'Delivered.' }),
    opened: t.exposeFloat('opened', { description: 'Opened.' }),
    clicked: t.exposeFloat('clicked', { description: 'Clicked.' }),
    bounced: t.exposeFloat('bounced', { description: 'Bounced.' }),
    complained: t.exposeFloat('complained', { description: 'Reported as spam.' }),
    unsubscribed: t.exposeFloat('unsubscribed', { description: 'Unsubscribed from.' }),
  }),
});

const sideOf = (row: BacktestRow, side: Side): SideRow => ({
  totals: readTotals(row.totals)[side],
  definition: row[side] as unknown as SideRow['definition'],
  version: side === 'candidate' ? row.candidateVersion : row.baselineVersion,
});

const Backtest = builder.prismaObject('Backtest', {
  interfaces: [Node],
  description: 'A run of a journey against the events and contacts of the last days. Nothing is sent.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Backtest id; also the id of its workflow in Temporal.' }),
    journeyId: t.exposeID('journeyId', {
      nullable: true,
      description: 'The journey; null if the definition belongs to none.',
    }),
    status: t.expose('status', { type: BacktestStatus, description: 'The state of the backtest.' }),
    days: t.exposeInt('days', { description: 'The days that it covers.' }),
    until: t.expose('untilAt', { type: 'DateTime', description: 'The end of the days that it covers.' }),
    total: t.exposeInt('total', { description: 'The number of contacts to simulate.' }),
    processed: t.exposeInt('processed', { description: 'The number of contacts simulated so far.' }),
    listed: t.exposeInt('listed', { description: 'The number of listed contacts that entered; at most 100,000.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why it failed.' }),
    notes: t.stringList({
      description: 'Assumptions about the past on which the result depends.',
      ...listOf({ maxLength: 500 }),
      resolve: (row) => notesOf(row),
    }),
    assumptions: t.field({
      type: Assumed,
      description: 'The assumed outcomes of messages.',
      complexity: FIGURES,
      resolve: ({ assumptions }) => assumptions as unknown as Assumptions,
    }),
    segmentId: t.exposeID('segmentId', {
      nullable: true,
      description: 'The segment whose contacts enter at the beginning.',
    }),
    candidate: t.field({
      type: BacktestTotals,
      description: 'The definition under test.',
      complexity: FIGURES,
      resolve: (row) => sideOf(row, 'candidate'),
    }),
    baseline: t.field({
      type: BacktestTotals,
      nullable: true,
      description: 'The results of the baseline; null if there is none.',
      complexity: FIGURES,
      resolve: (row) => (row.baseline === null ? null : sideOf(row, 'baseline')),
    }),
    differences: t.field({
      type: [DifferenceCount],
      description: 'How the messages of contacts differ; empty without a baseline.',
      complexity: FIGURES,
      resolve: (row) =>
        row.baseline === null
          ? []
          : Object.entries(readTotals(row.totals).differences).map(([difference, contacts]) => ({
              difference: difference as Difference,
              contacts,
            })),
    }),
    cancelRequestedAt: t.expose('cancelRequestedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was canceled; it stops after the contacts that are being simulated.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was started.' }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'When it ended.' }),
    workflowUrl: t.string({
      nullable: true,
      description: 'Its workflow in the Temporal UI; null if the UI address is not configured.',
      resolve: ({ id }) => workflowUrl(id),
    }),
  }),
});

registerNode(BACKTEST_ID, 'Backtest', (context, ids) => findBacktests(callerProject(context), ids), 'read', {
  select: `SELECT id, journey_id AS "journeyId" FROM backtests WHERE id = ANY ($1::text[]) AND project_id = $2`,
  calledAs: ({ journeyId }: { id: string; journeyId: string | null }) => journeyId,
});

const at = (ms: number) => new Date(ms);

const SimulatedStepType = builder.objectRef<SimulatedStep>('BacktestRunStep').implement({
  description: 'A step of a simulated run.',
  fields: (t) => ({
    stepId: t.exposeString('stepId', { description: 'The step.', ...STEP_ID }),
    arrivedAt: t.field({
      type: 'DateTime',
      description: 'When the contact would have reached it.',
      resolve: ({ arrivedAt }) => at(arrivedAt),
    }),
    leftAt: t.field({
      type: 'DateTime',
      description: 'When it would have been carried out.',
      resolve: ({ leftAt }) => at(leftAt),
    }),
    outcome: t.exposeString('outcome', { description: 'Such as `sent`, `yes` or `timeout`.', ...SHORT }),
  }),
});

const Run = builder.objectRef<SimulatedRun>('BacktestRun').implement({
  description: 'A simulated run of a contact.',
  fields: (t) => ({
    enteredAt: t.field({
      type: 'DateTime',
      description: 'When the contact would have entered.',
      resolve: ({ enteredAt }) => at(enteredAt),
    }),
    endedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the run would have ended; null if it had not.',
      resolve: ({ endedAt }) => (endedAt === null ? null : at(endedAt)),
    }),
    endReason: t.exposeString('endReason', {
      nullable: true,
      description: 'Why it ended: `completed`, `exit` or `goal`.',
      ...SHORT,
    }),
    stepId: t.exposeString('stepId', {
      description: 'The current step, or the step at which the run ended.',
      ...STEP_ID,
    }),
    dueAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the current step would be carried out.',
      resolve: ({ dueAt, endReason }) => (dueAt === null || endReason !== null ? null : at(dueAt)),
    }),
    steps: t.field({
      type: [SimulatedStepType],
      description: 'The steps that the run has left, in order.',
      complexity: STORED,
      resolve: ({ steps }) => steps,
    }),
  }),
});

const BacktestContact = builder.prismaObject('BacktestContact', {
  interfaces: [Node],
  description: 'A contact that would have entered.',
  select: { id: true, contactId: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Id of the row.' }),
    contactId: t.exposeID('contactId', { description: 'Contact id.' }),
    contact: t.field({
      type: Contact,
      nullable: true,
      description: 'The contact; null if it was deleted.',
      select: { contactId: true },
      resolve: async ({ contactId }, _args, context) => (await loadContact(context, contactId)) ?? null,
    }),
    difference: t.expose('difference', {
      type: BacktestDifference,
      description: 'How its messages differ between the two definitions.',
    }),
    candidate: t.field({
      type: [Run],
      description: 'Its runs by the candidate.',
      complexity: STORED,
      select: { candidate: true },
      resolve: ({ candidate }) => candidate as unknown as SimulatedRun[],
    }),
    baseline: t.field({
      type: [Run],
      description: 'Its runs by the baseline.',
      complexity: STORED,
      select: { baseline: true },
      resolve: ({ baseline }) => baseline as unknown as SimulatedRun[],
    }),
  }),
});

registerNode(CONTACT_ROW_ID, 'BacktestContact', (context, ids) => findContactRows(callerProject(context), ids));

const ContactsFilter = builder.inputType('BacktestContactFilter', {
  description: 'Selects contacts of a backtest; they must pass every filter.',
  fields: (t) => ({
    side: t.field({
      type: BacktestSide,
      description: 'The definition that the filters refer to; the candidate by default.',
    }),
    stepId: t.string({ description: 'Only contacts that reached this step.', ...STEP_ID }),
    outcome: t.string({
      description: 'Only contacts that left the step with this outcome, or are still at it (`waiting`).',
      ...SHORT,
    }),
    day: t.string({
      description: 'Only contacts that got the message of the step on this day in UTC, such as 2026-11-25.',
      ...atMost(10),
    }),
    result: t.string({
      description:
        'Only contacts with this result of a run: `completed`, `exit`, `goal` or `in_progress`; or contacts that got a message (`sent`).',
      ...jsonSchema({ enum: RESULTS }),
    }),
    difference: t.field({ type: BacktestDifference, description: 'Only contacts whose messages differ in this way.' }),
    search: t.string({ description: 'Part of the address or name; 1,000 matching contacts at most.', ...atMost(200) }),
  }),
});

const backtestId = { required: true, description: 'Backtest id.' } as const;

builder.queryFields((t) => ({
  backtest: t.field({
    type: Backtest,
    description: 'A backtest of the project; `not_found` if it does not exist.',
    args: { id: t.arg.id(backtestId) },
    resolve: (_root, { id }, context) => getBacktest(callerProject(context), id),
  }),
  backtests: t.connection(
    {
      type: Backtest,
      description: "The project's backtests, newest first. The last 10 are kept, for 30 days.",
      args: { journeyId: t.arg.id({ description: 'Only those of this journey.' }) },
      resolve: (_root, args, context) => listBacktests(callerProject(context), args),
    },
    ...relayNames('Backtest'),
  ),
  backtestContacts: t.connection(
    {
      type: BacktestContact,
      description: 'The contacts that would have entered the journey and pass every filter.',
      args: {
        id: t.arg.id(backtestId),
        filter: t.arg({ type: ContactsFilter, description: 'Selects contacts; all if omitted.' }),
      },
      resolve: (_root, { id, filter, ...page }, context) =>
        listBacktestContacts(callerProject(context), { backtestId: id, ...page, ...filter }),
    },
    ...relayNames('BacktestContact'),
  ),
}));

/** Subscribers get updates at most at this interval, in milliseconds. */
const THROTTLE_MS = 500;

builder.subscriptionField('backtestProgress', (t) =>
  t.field({
    type: Backtest,
    description: 'The current backtest, then an update whenever it has made progress, until it has ended.',
    args: { id: t.arg.id(backtestId) },
    subscribe: (_root, { id }, context) => {
      const projectId = callerProject(context);
      return watchUntilFinal(topicOf(id), {
        read: () => getBacktest(projectId, id),
        isFinal: ({ status }) => status !== 'running',
        minIntervalMs: THROTTLE_MS,
      });
    },
    resolve: (row) => row,
  }),
);

const DefinitionInput = builder.inputType('BacktestDefinitionInput', {
  description: 'A definition or a version of the journey; the draft if both are omitted.',
  fields: (t) => ({
    definition: t.field({ type: 'JSON', description: 'The definition, in the format of a journey.', ...JSON_OBJECT }),
    version: t.int({ description: 'A published version of the journey.', ...jsonSchema({ minimum: 1 }) }),
  }),
});

const PERCENT = jsonSchema({ minimum: 0, maximum: 100 });

const AssumeInput = builder.inputType('BacktestAssumptionsInput', {
  description: 'The assumed outcomes of messages, in percent of the messages, 0 to 100.',
  fields: (t) => ({
    delivered: t.float({ description: 'Delivered; 100 if omitted.', ...PERCENT }),
    opened: t.float({ description: 'Opened; 0 if omitted.', ...PERCENT }),
    clicked: t.float({ description: 'Clicked; 0 if omitted.', ...PERCENT }),
    bounced: t.float({ description: 'Bounced; 0 if omitted.', ...PERCENT }),
    complained: t.float({ description: 'Reported as spam; 0 if omitted.', ...PERCENT }),
    unsubscribed: t.float({ description: 'Unsubscribed from; 0 if omitted.', ...PERCENT }),
  }),
});

const StartInput = builder.inputType('StartBacktestInput', {
  description: 'The definitions to test, and the period.',
  fields: (t) => ({
    journeyId: t.id({ description: 'The journey; required unless all definitions are given.' }),
    days: t.int({
      required: true,
      description: `How many days back, 1 to ${MAX_DAYS}.`,
      ...jsonSchema({ minimum: 1, maximum: MAX_DAYS }),
    }),
    candidate: t.field({ type: DefinitionInput, description: 'What is tested; the draft of the journey if omitted.' }),
    baseline: t.field({ type: DefinitionInput, description: 'The baseline to compare with; none if omitted.' }),
    assume: t.field({ type: AssumeInput, description: 'The assumed outcomes of messages.' }),
    segmentId: t.id({
      description:
        'A segment whose contacts enter at the beginning, in addition to those that enter through past events.',
    }),
  }),
});

builder.mutationFields((t) => ({
  startBacktest: t.field({
    type: Backtest,
    description: 'Starts a backtest. Nothing is sent, and contacts are not changed.',
    args: { input: t.arg({ type: StartInput, required: true, description: 'The backtest.' }) },
    resolve: (_root, { input }, context) => startBacktest(callerProject(context), authenticated(context).id, input),
  }),
  cancelBacktest: t.field({
    type: Backtest,
    description: 'Cancels a backtest. `conflict` when it has ended.',
    args: { id: t.arg.id(backtestId) },
    resolve: async (_root, { id }, context) => {
      await cancelBacktest(callerProject(context), id);
      return getBacktest(callerProject(context), id);
    },
  }),
}));
