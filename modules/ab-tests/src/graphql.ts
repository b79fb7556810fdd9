import { type Campaign as CampaignRow, findCampaigns } from '@postroom/campaigns';
import { Campaign } from '@postroom/campaigns/graphql';
import {
  atMost,
  authenticated,
  batchLoader,
  builder,
  callerProject,
  columnsOf,
  type Context,
  db,
  jsonSchema,
  listOf,
  MAX_NAME_LENGTH,
  Node,
  NOT_EMPTY,
  notNull,
  registerNode,
  relayNames,
  removalMutation,
  rowsQuery,
  type InputFields,
} from '@postroom/platform';
import { actorName } from '@postroom/projects';
import {
  AB_TEST_ID,
  type AbTest as AbTestRow,
  cancelAbTest,
  chooseWinner,
  createAbTest,
  deleteAbTest,
  findAbTests,
  getAbTest,
  listAbTests,
  MAX_HOURS,
  MAX_VARIANTS,
  MIN_VARIANTS,
  startAbTest,
  updateAbTest,
} from './ab-tests.ts';
import { watchAbTest } from './progress.ts';
import { type Decision, labelOf, leaderOf, rateOf } from './variants.ts';

const AbTestStatus = builder.enumType('AbTestStatus', {
  description: 'The state of an A/B test.',
  values: {
    draft: { description: 'Its settings and variants can be edited, and it can be started.' },
    testing: { description: 'Its variants are sent, or were, and the winner is not chosen yet.' },
    completed: { description: 'The winner is chosen, and the rest of the audience gets it.' },
    canceled: { description: 'It was canceled. No winner was chosen.' },
  } satisfies Record<AbTestRow['status'], { description: string }>,
});

const AbTestMetric = builder.enumType('AbTestMetric', {
  description: 'What decides an A/B test, as a rate of the accepted messages.',
  values: {
    opens: { description: 'People who opened the message. Bots are not counted.' },
    clicks: { description: 'People who clicked a link. Bots are not counted.' },
  } satisfies Record<AbTestRow['metric'], { description: string }>,
});

const AbTestDecision = builder.enumType('AbTestDecision', {
  description: 'How the rates of the variants chose the winner of an A/B test.',
  values: {
    best_rate: { description: 'It had the best rate.' },
    tie: { description: 'It is the first of several variants that shared the best rate.' },
    no_reactions: {
      description: 'It is the first variant that was not canceled: people had opened none, or clicked in none.',
    },
  } satisfies Record<Decision, { description: string }>,
});

/** Campaigns of tests; the tests of a list share the statement. */
const loadCampaign = batchLoader(async (context: Context, ids) => {
  const campaigns = await findCampaigns(callerProject(context), ids);
  return new Map(campaigns.map((campaign) => [campaign.id, campaign]));
});

async function variantsOf(context: Context, { variantIds }: Pick<AbTestRow, 'variantIds'>): Promise<CampaignRow[]> {
  const campaigns = await Promise.all(variantIds.map((id) => loadCampaign(context, id)));
  return campaigns.filter((campaign) => campaign !== undefined);
}

interface VariantRow {
  label: string;
  campaign: CampaignRow;
  metric: AbTestRow['metric'];
}

const Variant = builder.objectRef<VariantRow>('AbTestVariant').implement({
  description: 'A variant of an A/B test: a campaign that is sent to a share of the audience.',
  fields: (t) => ({
    label: t.exposeString('label', { description: 'A for the first, and so on.', ...atMost(1) }),
    campaign: t.field({ type: Campaign, description: 'The campaign.', resolve: ({ campaign }) => campaign }),
    rate: t.float({
      nullable: true,
      description: 'The fraction of its accepted messages that people opened or clicked; null if none was accepted.',
      resolve: ({ campaign, metric }) => rateOf(campaign, metric),
    }),
  }),
});

/** The variants of a test, each with the columns of its campaign. */
const VARIANTS = { field: 1, multiplier: MAX_VARIANTS };

const AbTest = builder.prismaObject('AbTest', {
  interfaces: [Node],
  description:
    'An A/B test: campaigns that are each sent to a share of the audience, until the best one is sent to the rest.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'A/B test id; also the id of its workflow in Temporal.' }),
    status: t.expose('status', { type: AbTestStatus, description: 'Its state.' }),
    samplePercent: t.exposeInt('samplePercent', {
      description:
        'Percentage of the audience that receives a variant, in equal shares. With 100, no one is left for the winner.',
    }),
    metric: t.expose('metric', { type: AbTestMetric, description: 'What decides it.' }),
    durationHours: t.exposeInt('durationHours', { description: 'Hours from the start until the winner is chosen.' }),
    variantIds: t.exposeStringList('variantIds', {
      description: 'The campaigns that are its variants, in order.',
      ...listOf({ maxLength: 30 }, { minItems: MIN_VARIANTS, maxItems: MAX_VARIANTS }),
    }),
    variants: t.field({
      type: [Variant],
      description: 'Its variants, in order.',
      complexity: VARIANTS,
      resolve: async (test, _args, context) =>
        (await variantsOf(context, test)).map((campaign, index) => ({
          label: labelOf(index),
          campaign,
          metric: test.metric,
        })),
    }),
    leaderId: t.id({
      nullable: true,
      description: 'The variant with the best rate so far, the first of equal ones; null until a message is accepted.',
      complexity: VARIANTS,
      resolve: async (test, _args, context) => leaderOf(await variantsOf(context, test), test.metric)?.id ?? null,
    }),
    winnerId: t.exposeID('winnerId', { nullable: true, description: 'The variant that won; null until it is chosen.' }),
    chosenById: t.exposeID('chosenById', {
      nullable: true,
      description: 'Who chose the winner, `usr_…` or `key_…`; null if the metric did.',
    }),
    chosenByName: t.string({
      nullable: true,
      description: 'The current name of that user or key.',
      ...atMost(MAX_NAME_LENGTH),
      resolve: ({ chosenById }) => actorName(chosenById),
    }),
    decision: t.expose('decision', {
      type: AbTestDecision,
      nullable: true,
      description:
        'How the rates chose the winner when the time was up; null until then, and if a user or an API key chose it.',
    }),
    finalCampaignId: t.exposeID('finalCampaignId', {
      nullable: true,
      description:
        'The campaign that sends the winner to the rest of the audience; null until then, or if there is no rest.',
    }),
    finalCampaign: t.field({
      type: Campaign,
      nullable: true,
      description: 'That campaign.',
      resolve: async ({ finalCampaignId }, _args, context) =>
        finalCampaignId === null ? null : ((await loadCampaign(context, finalCampaignId)) ?? null),
    }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'When it was started.' }),
    endsAt: t.expose('endsAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'When the winner is chosen unless a user chooses it before; null before the start, and after a restore of the database, when a user has to choose.',
    }),
    completedAt: t.expose('completedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the winner was chosen or the test was canceled.',
    }),
    version: t.exposeInt('version', {
      description: 'Incremented by each edit; an edit may name the version it is based on.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
  }),
});

/** What users change of a test. */
const AUDITED = ['status', 'variantIds', 'samplePercent', 'metric', 'durationHours', 'winnerId'];

registerNode(AB_TEST_ID, 'AbTest', (context, ids) => findAbTests(callerProject(context), ids), 'read', {
  select: `SELECT id, ${columnsOf(AUDITED)} FROM ab_tests WHERE id = ANY ($1::text[]) AND project_id = $2`,
  calledAs: ({ variantIds: [first] }: { id: string; variantIds: string[] }) => first,
});

const abTestId = { required: true, description: 'A/B test id.' } as const;

builder.queryFields((t) => ({
  abTest: t.prismaField({
    type: AbTest,
    description: 'An A/B test of the project; `not_found` if it does not exist.',
    args: { id: t.arg.id(abTestId) },
    resolve: (query, _root, { id }, context) => getAbTest(callerProject(context), id, query),
  }),
  abTests: t.connection(
    {
      type: AbTest,
      description: "The project's A/B tests, newest first.",
      resolve: (_root, args, context, info) => listAbTests(callerProject(context), args, rowsQuery(context, info)),
    },
    ...relayNames('AbTest'),
  ),
}));

builder.subscriptionField('abTestProgress', (t) =>
  t.field({
    type: AbTest,
    description: 'An A/B test now and after each change of it or of its campaigns, until all of them have ended.',
    args: { id: t.arg.id(abTestId) },
    subscribe: (_root, { id }, context) => watchAbTest(callerProject(context), id),
    resolve: (test) => test,
  }),
);

/** Settings that creation and updates share. `always` marks those that always have a value. */
const settings = (
  t: InputFields,
  always: (options?: object) => object,
  [variants, sample, metric, hours]: readonly string[],
) => ({
  variants: t.int({
    description: `How many variants there are, ${MIN_VARIANTS} to ${MAX_VARIANTS}${variants}`,
    ...always(jsonSchema({ minimum: MIN_VARIANTS, maximum: MAX_VARIANTS })),
  }),
  samplePercent: t.int({
    description: `Percentage of the audience that receives a variant, 1 to 100${sample}`,
    ...always(jsonSchema({ minimum: 1, maximum: 100 })),
  }),
  metric: t.field({ type: AbTestMetric, description: `What decides the test${metric}`, ...always() }),
  durationHours: t.int({
    description: `Hours from the start until the winner is chosen, 1 to ${MAX_HOURS}${hours}`,
    ...always(jsonSchema({ minimum: 1, maximum: MAX_HOURS })),
  }),
});

const CreateInput = builder.inputType('CreateAbTestInput', {
  description: 'A new A/B test.',
  fields: (t) => ({
    campaignId: t.id({
      required: true,
      description: 'A draft campaign, which becomes the first variant. The others are copies of it.',
    }),
    ...settings(t, (options = {}) => options, [
      '; 2 if omitted.',
      '; 20 if omitted.',
      '; opens if omitted.',
      '; 24 if omitted.',
    ]),
  }),
});

const UpdateInput = builder.inputType('UpdateAbTestInput', {
  ...NOT_EMPTY,
  description: 'Settings to update; omitted ones are unchanged.',
  fields: (t) => ({
    ...settings(t, notNull, [
      '. Further ones, and those that no longer exist, are copies of the first one; if there are fewer, the last ones are deleted.',
      '.',
      '.',
      '.',
    ]),
    variantIds: t.idList({
      description:
        'The variants to keep; the others are deleted, and letters move up. With `variants`, copies are added up to that number.',
      ...notNull(jsonSchema({ minItems: 1, maxItems: MAX_VARIANTS })),
    }),
    version: t.int({ description: 'The version that the edit is based on; `conflict` if it is not the current one.' }),
  }),
});

builder.mutationFields((t) => {
  const id = t.arg.id(abTestId);
  /** A mutation that changes the state and returns the updated test. */
  const command = (run: (projectId: string, id: string) => Promise<void>, description: string) =>
    t.prismaField({
      type: AbTest,
      description,
      args: { id },
      resolve: async (query, _root, args, context) => {
        await run(callerProject(context), args.id);
        return db.abTest.findUniqueOrThrow({ ...query, where: { id: args.id } });
      },
    });
  return {
    createAbTest: t.prismaField({
      type: AbTest,
      description: 'Makes an A/B test from a draft campaign.',
      args: { input: t.arg({ type: CreateInput, required: true, description: 'The campaign and the settings.' }) },
      resolve: async (query, _root, { input }, context) => {
        const created = await createAbTest(callerProject(context), authenticated(context).id, input);
        return db.abTest.findUniqueOrThrow({ ...query, where: { id: created } });
      },
    }),
    updateAbTest: t.prismaField({
      type: AbTest,
      description: 'Changes the settings of an A/B test that has not been started.',
      args: { id, input: t.arg({ type: UpdateInput, required: true, description: 'The changes.' }) },
      resolve: async (query, _root, args, context) => {
        await updateAbTest(callerProject(context), authenticated(context).id, args.id, args.input);
        return db.abTest.findUniqueOrThrow({ ...query, where: { id: args.id } });
      },
    }),
    startAbTest: t.prismaField({
      type: AbTest,
      description: 'Starts an A/B test: all variants are sent, each to its share of the audience.',
      args: {
        id,
        version: t.arg.int({ description: 'The version to start; `conflict` if its settings were changed since.' }),
        variantVersions: t.arg.intList({
          description: 'The versions of its variants to start, in order; `conflict` if one of them was edited since.',
        }),
      },
      resolve: async (query, _root, args, context) => {
        await startAbTest(callerProject(context), args.id, args);
        return db.abTest.findUniqueOrThrow({ ...query, where: { id: args.id } });
      },
    }),
    chooseAbTestWinner: t.prismaField({
      type: AbTest,
      description: 'Ends a running A/B test with the winner that is given, and sends it to the rest of the audience.',
      args: { id, campaignId: t.arg.id({ required: true, description: 'The campaign that is the variant.' }) },
      resolve: async (query, _root, args, context) => {
        await chooseWinner(callerProject(context), authenticated(context).id, args.id, args.campaignId);
        return db.abTest.findUniqueOrThrow({ ...query, where: { id: args.id } });
      },
    }),
    cancelAbTest: command(cancelAbTest, 'Cancels a running A/B test and what its variants have not sent.'),
  };
});

removalMutation('abTestDelete', {
  description:
    'Deletes an A/B test that has not been started, with its variants except the first, which becomes an ordinary draft again.',
  id: 'A/B test id.',
  remove: (context, id) => deleteAbTest(callerProject(context), id),
});
