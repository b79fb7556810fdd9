import '@postroom/emails/graphql';
import { EDITED_BY } from '@postroom/projects';
import { ContentFormat } from '@postroom/templates/graphql';
import './graphql-policy.ts';
import './graphql-preflight.ts';
import './graphql-recipients.ts';
import { listLinks, type TrackedLink } from '@postroom/tracking';
import { type QueuedEmail } from '@postroom/emails';
import {
  ADDRESS,
  authenticated,
  builder,
  callerProject,
  db,
  jsonSchema,
  listOf,
  NAME,
  Node,
  NOT_EMPTY,
  registerNode,
  rowsQuery,
  relayNames,
  removalMutation,
  workflowUrl,
} from '@postroom/platform';
import {
  type Campaign as CampaignModel,
  createCampaign,
  deleteCampaign,
  getCampaign,
  listCampaigns,
  updateCampaign,
} from './campaigns.ts';
import { watchCampaign } from './progress.ts';
import { workflowIdOf } from './workflow.ts';
import {
  acknowledgeCampaign,
  cancelCampaign,
  pauseCampaign,
  resumeCampaign,
  scheduleCampaign,
  sendCampaign,
  unscheduleCampaign,
} from './sending.ts';
import { sendTest } from './test-send.ts';

const CampaignStatus = builder.enumType('CampaignStatus', {
  description: 'Where a campaign is.',
  values: {
    draft: { description: 'It can be edited and sent.' },
    scheduled: { description: 'It starts at its time, and can be edited or sent until then.' },
    sending: { description: 'Its messages go out in the background.' },
    paused: {
      description: 'Nothing goes out until it is resumed; `pauseReason` says why if it was paused automatically.',
    },
    completed: { description: 'No recipient is left to send to.' },
    canceled: { description: 'It was ended before all had gone out.' },
  },
});

/** Whether anything is known of what became of messages once the next server had them. */
const DeliveryTracking = builder.enumType('DeliveryTracking', {
  description: 'What the number of delivered messages stands for.',
  values: {
    reported: { description: 'The transport reports deliveries. Of a message without a report nothing is known yet.' },
    accepted_only: {
      description:
        'Nothing has been reported so far, as by an SMTP relay without delivery status notifications: it is known that messages were accepted (`sent`), not that they were delivered.',
    },
  } as const,
});

const Engagement = builder.objectRef<CampaignModel>('CampaignEngagement').implement({
  description: 'What recipients did, in numbers.',
  fields: (t) => ({
    sent: t.exposeInt('acceptedCount', { description: 'Messages the provider accepted.' }),
    delivered: t.exposeInt('deliveredCount', {
      description: "Messages the recipients' servers accepted, as far as that is reported: see `deliveryTracking`.",
    }),
    deliveryTracking: t.field({
      type: DeliveryTracking,
      nullable: true,
      description: 'Whether deliveries are reported; null until a message has been accepted.',
      resolve: ({ acceptedCount, deliveredCount }) =>
        deliveredCount > 0 ? 'reported' : acceptedCount > 0 ? 'accepted_only' : null,
    }),
    opened: t.exposeInt('openedCount', { description: 'Recipients who opened the message.' }),
    clicked: t.exposeInt('clickedCount', { description: 'Recipients who clicked a link.' }),
    openedByMachines: t.exposeInt('machineOpenedCount', {
      description: 'Messages whose images a program fetched, such as a privacy proxy on arrival.',
    }),
    clickedByMachines: t.exposeInt('machineClickedCount', {
      description: 'Messages whose links a program tried, such as a scanner.',
    }),
    bounced: t.exposeInt('bouncedCount', { description: 'Messages that bounced.' }),
    complained: t.exposeInt('complainedCount', { description: 'Recipients who marked it as spam.' }),
    unsubscribed: t.exposeInt('unsubscribedCount', { description: 'Recipients who unsubscribed.' }),
  }),
});

const Progress = builder.objectRef<CampaignModel>('CampaignProgress').implement({
  description: 'How many recipients are in each state. They add up to the number of recipients.',
  fields: (t) => ({
    planned: t.int({ description: 'To be sent.', resolve: plannedOf }),
    claimed: t.exposeInt('claimedCount', { description: 'Being sent.' }),
    accepted: t.exposeInt('acceptedCount', { description: 'Accepted by the provider.' }),
    failed: t.exposeInt('failedCount', { description: 'Refused for good.' }),
    suppressed: t.exposeInt('suppressedCount', { description: 'Not to be mailed.' }),
    unknown: t.exposeInt('unknownCount', { description: 'Possibly accepted; the outcome cannot be known.' }),
    canceled: t.exposeInt('canceledCount', { description: 'Canceled before they went out.' }),
  }),
});

function plannedOf(row: CampaignModel): number {
  const { recipientCount, claimedCount, acceptedCount, failedCount, suppressedCount, unknownCount, canceledCount } =
    row;
  return recipientCount - claimedCount - acceptedCount - failedCount - suppressedCount - unknownCount - canceledCount;
}

const Campaign = builder.prismaObject('Campaign', {
  interfaces: [Node],
  description: 'One mailing to many recipients, and where it stands.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Campaign id; its workflow in Temporal has the same.' }),
    name: t.exposeString('name', { description: 'Display name.' }),
    subject: t.exposeString('subject', { nullable: true, description: 'It may have placeholders.' }),
    status: t.expose('status', { type: CampaignStatus, description: 'Where it is.' }),
    scheduledAt: t.expose('scheduledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was scheduled to start.',
    }),
    recipientCount: t.exposeInt('recipientCount', {
      description: 'Contacts it goes to, as frozen when it started; 0 before.',
    }),
    engagement: t.field({ type: Engagement, description: 'What recipients did.', resolve: (row) => row }),
    progress: t.field({ type: Progress, description: 'Recipients by state.', resolve: (row) => row }),
    fromName: t.exposeString('fromName', { nullable: true, description: 'What the sender is called.' }),
    fromEmail: t.exposeString('fromEmail', { nullable: true, description: 'The address it is sent from.' }),
    replyTo: t.exposeString('replyTo', { nullable: true, description: 'Reply-to addresses.' }),
    html: t.exposeString('html', { nullable: true, description: "The body; after the start also a template's." }),
    format: t.expose('format', { type: ContentFormat, description: 'What the body was written in.' }),
    source: t.exposeString('source', {
      nullable: true,
      description: 'The MJML that the HTML was made from; null when it is HTML as it was written.',
    }),
    text: t.exposeString('text', { nullable: true, description: 'The text part; made from the HTML when null.' }),
    templateId: t.exposeID('templateId', { nullable: true, description: 'The template that gives the body.' }),
    templateVersion: t.exposeInt('templateVersion', {
      nullable: true,
      description: 'The number of the version of its template that goes out; null before the start, or without one.',
    }),
    groupIds: t.exposeStringList('groupIds', { description: 'Groups it goes to.' }),
    segmentIds: t.exposeStringList('segmentIds', { description: 'Segments it goes to.' }),
    trackOpens: t.exposeBoolean('trackOpens', {
      nullable: true,
      description: "Whether opens are tracked; until the campaign starts, null means the project's setting.",
    }),
    trackClicks: t.exposeBoolean('trackClicks', {
      nullable: true,
      description: "Whether clicks are tracked; until the campaign starts, null means the project's setting.",
    }),
    pauseReason: t.exposeString('pauseReason', {
      nullable: true,
      description:
        'Why it was paused automatically, or blocks its sender after it was completed; null when a user paused it.',
    }),
    waitingUntil: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it goes on by itself, while it is sending and waits for another day; null otherwise.',
      resolve: ({ status, waitingUntil }) => (status === 'sending' ? waitingUntil : null),
    }),
    waitingReason: t.string({
      nullable: true,
      description: 'What it waits for; null when it does not.',
      resolve: ({ status, waitingReason }) => (status === 'sending' ? waitingReason : null),
    }),
    blocksSender: t.exposeBoolean('pauseBlocksSender', {
      description:
        "Whether campaigns from its sender's domain are refused because of how its mail was received: until it is resumed or canceled, or acknowledged when it was completed before that was known.",
    }),
    ratePerSecond: t.exposeInt('ratePerSecond', {
      nullable: true,
      description: 'Messages per second at most; null for no limit.',
    }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'When it was started.' }),
    workflowUrl: t.string({
      nullable: true,
      description:
        'The workflow that sends it, in the Temporal UI; null before it started, or if the address of the UI is not configured.',
      resolve: ({ id, run, startedAt }) => (startedAt === null ? null : workflowUrl(workflowIdOf({ id, run }))),
    }),
    completedAt: t.expose('completedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was completed or canceled.',
    }),
    recipientsDeletedAt: t.expose('recipientsDeletedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'When its recipients were deleted, since they were older than the project keeps messages: counts stay, recipients are no longer listed.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description: 'When it was last edited, or its status commanded.',
    }),
    version: t.exposeInt('version', {
      description: 'Raised by each edit; an edit may name the one that it was written on.',
    }),
    editedById: t.exposeID('editedById', EDITED_BY.id),
    editedByName: t.string(EDITED_BY.name),
  }),
});

const Link = builder.objectRef<TrackedLink>('CampaignLink').implement({
  description: 'A tracked link of a campaign, and how often it was followed.',
  fields: (t) => ({
    position: t.exposeInt('position', { description: 'Its number in the HTML; 0 for the first.' }),
    url: t.exposeString('url', { description: 'Where it leads; with placeholders as its author wrote them.' }),
    clicks: t.exposeInt('clicks', { description: 'Clicks by people.' }),
    uniqueClicks: t.exposeInt('uniqueClicks', { description: 'Recipients who followed it.' }),
    clicksByMachines: t.exposeInt('machineClicks', { description: 'Clicks by programs.' }),
  }),
});

registerNode('cmp', 'Campaign', (context, ids) =>
  db.campaign.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
);

const idArg = 'Campaign id.';

builder.queryFields((t) => ({
  campaign: t.prismaField({
    type: Campaign,
    description: 'A campaign of the project; `not_found` when there is none.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: (query, _root, { id }, context) => getCampaign(callerProject(context), id, query),
  }),
  campaigns: t.connection(
    {
      type: Campaign,
      description: "The project's campaigns, newest first.",
      args: { status: t.arg({ type: CampaignStatus, description: 'Only those that are there.' }) },
      resolve: (_root, { first, after, status }, context, info) =>
        listCampaigns(callerProject(context), { status }, { first, after }, rowsQuery(context, info)),
    },
    ...relayNames('Campaign'),
  ),
  campaignLinks: t.field({
    type: [Link],
    description: 'The tracked links of a campaign that has started, in the order in which they stand in it.',
    complexity: 50,
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: async (_root, { id }, context) => listLinks((await getCampaign(callerProject(context), id)).id),
  }),
}));

builder.subscriptionField('campaignProgress', (t) =>
  t.field({
    type: Campaign,
    description: 'A campaign as it is now, then each time it has changed, until it has ended and been reported on.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    subscribe: (_root, { id }, context) => watchCampaign(callerProject(context), id),
    resolve: (campaign) => campaign,
  }),
);

const describe = {
  subject: 'At most 998 characters; it may have placeholders such as `{{name|there}}`.',
  fromName: 'What the sender is called.',
  fromEmail: 'The sender, at a domain of the project that is verified when it is sent.',
  replyTo: 'Reply-to addresses.',
  html: 'The body, instead of a template: HTML, or MJML.',
  format: 'What the body is written in; HTML unless given.',
  text: 'The text part; made from the HTML when not given.',
  templateId: 'A template that gives the body, as it is when the campaign starts.',
  groupIds: 'Groups to send to.',
  segmentIds: 'Segments to send to.',
  ratePerSecond: 'Messages per second at most.',
  trackOpens: "Whether opens are tracked; the project's setting at the start by default.",
  trackClicks: "Whether clicks are tracked; the project's setting at the start by default.",
};

const RATE = jsonSchema({ minimum: 1, maximum: 100_000 });

const CreateCampaignInput = builder.inputType('CreateCampaignInput', {
  description: 'A new campaign. A draft may be incomplete.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Display name, 1 to 200 characters.', ...NAME }),
    subject: t.string({ description: describe.subject, ...jsonSchema({ maxLength: 998 }) }),
    fromName: t.string({ description: describe.fromName }),
    fromEmail: t.string({ description: describe.fromEmail }),
    replyTo: t.string({ description: describe.replyTo }),
    html: t.string({ description: describe.html }),
    format: t.field({ type: ContentFormat, description: describe.format }),
    text: t.string({ description: describe.text }),
    templateId: t.string({ description: describe.templateId }),
    groupIds: t.stringList({ description: describe.groupIds }),
    segmentIds: t.stringList({ description: describe.segmentIds }),
    trackOpens: t.boolean({ description: describe.trackOpens }),
    trackClicks: t.boolean({ description: describe.trackClicks }),
    ratePerSecond: t.int({ description: describe.ratePerSecond, ...RATE }),
  }),
});

const UpdateCampaignInput = builder.inputType('UpdateCampaignInput', {
  ...NOT_EMPTY,
  description: 'What to change; what is not given stays, and null takes it away.',
  fields: (t) => ({
    name: t.string({ description: 'A new name; 1 to 200 characters.', ...NAME }),
    subject: t.string({ description: describe.subject, ...jsonSchema({ maxLength: 998 }) }),
    fromName: t.string({ description: describe.fromName }),
    fromEmail: t.string({ description: describe.fromEmail }),
    replyTo: t.string({ description: describe.replyTo }),
    html: t.string({ description: describe.html }),
    format: t.field({ type: ContentFormat, description: describe.format }),
    text: t.string({ description: describe.text }),
    templateId: t.string({ description: describe.templateId }),
    groupIds: t.stringList({ description: describe.groupIds }),
    segmentIds: t.stringList({ description: describe.segmentIds }),
    trackOpens: t.boolean({ description: describe.trackOpens }),
    trackClicks: t.boolean({ description: describe.trackClicks }),
    ratePerSecond: t.int({
      description: `${describe.ratePerSecond} This may be changed while the campaign is being sent.`,
      ...RATE,
    }),
    version: t.int({
      description: 'The version that this was written on; `conflict` when it is not the newest any more.',
    }),
  }),
});

const ScheduleCampaignInput = builder.inputType('ScheduleCampaignInput', {
  description: 'When a campaign is to start.',
  fields: (t) => ({
    scheduledAt: t.field({
      type: 'DateTime',
      required: true,
      description: 'An instant in the future, with its offset.',
    }),
  }),
});

const TestSendInput = builder.inputType('TestCampaignInput', {
  description: 'Who gets a test.',
  fields: (t) => ({
    emails: t.stringList({
      required: true,
      description: '1 to 10 addresses.',
      ...listOf(ADDRESS, { minItems: 1, maxItems: 10 }),
    }),
    contactId: t.string({ description: 'The contact that placeholders are filled in for; their defaults otherwise.' }),
  }),
});

const TestEmail = builder.objectRef<QueuedEmail>('TestEmail').implement({
  description: 'A test that goes out.',
  fields: (t) => ({
    messageId: t.exposeID('id', { description: 'Message id.' }),
    id: t.exposeID('id', { description: 'Message id.', deprecationReason: 'Use TestEmail.messageId.' }),
    status: t.exposeString('status', { description: '`queued`, or `suppressed`.' }),
  }),
});

builder.mutationFields((t) => {
  const id = t.arg.id({ required: true, description: idArg });
  /** A command changes the status and returns the campaign as it is now. */
  const command = (run: (projectId: string, id: string) => Promise<void>, description: string) =>
    t.prismaField({
      type: Campaign,
      description,
      args: { id },
      resolve: async (query, _root, args, context) => {
        await run(callerProject(context), args.id);
        return getCampaign(callerProject(context), args.id, query);
      },
    });
  return {
    createCampaign: t.prismaField({
      type: Campaign,
      description: 'Creates a draft.',
      args: { input: t.arg({ type: CreateCampaignInput, required: true, description: 'The campaign.' }) },
      resolve: async (query, _root, { input }, context) => {
        const { id } = await createCampaign(callerProject(context), authenticated(context).id, input);
        return getCampaign(callerProject(context), id, query);
      },
    }),
    updateCampaign: t.prismaField({
      type: Campaign,
      description: 'Changes a draft or scheduled campaign, or the rate of one that is being sent.',
      args: { id, input: t.arg({ type: UpdateCampaignInput, required: true, description: 'What to change.' }) },
      resolve: async (query, _root, { id, input }, context) => {
        await updateCampaign(callerProject(context), authenticated(context).id, id, input);
        return getCampaign(callerProject(context), id, query);
      },
    }),
    scheduleCampaign: t.prismaField({
      type: Campaign,
      description: 'Schedules or reschedules a campaign; it is checked as if it were sent now.',
      args: { id, input: t.arg({ type: ScheduleCampaignInput, required: true, description: 'When.' }) },
      resolve: async (query, _root, { id, input }, context) => {
        await scheduleCampaign(callerProject(context), id, input.scheduledAt);
        return getCampaign(callerProject(context), id, query);
      },
    }),
    testCampaign: t.field({
      type: [TestEmail],
      description: 'Sends the campaign as it is now to a few addresses.',
      args: { id, input: t.arg({ type: TestSendInput, required: true, description: 'To whom.' }) },
      resolve: (_root, { id, input }, context) => sendTest(callerProject(context), id, input),
    }),
    sendCampaign: command(sendCampaign, 'Starts a campaign now. Its messages go out in the background.'),
    unscheduleCampaign: command(unscheduleCampaign, 'Makes a scheduled campaign a draft again.'),
    pauseCampaign: command(
      pauseCampaign,
      'Pauses a campaign that is being sent. Messages already in flight still go out.',
    ),
    resumeCampaign: command(resumeCampaign, 'Resumes a paused campaign.'),
    acknowledgeCampaign: command(
      acknowledgeCampaign,
      'Acknowledges why a completed campaign blocks its sender. Campaigns from its domain can be sent again.',
    ),
    cancelCampaign: command(cancelCampaign, 'Ends a campaign; what has not gone out never will.'),
  };
});

removalMutation('campaignDelete', {
  replaces: 'deleteCampaign',
  description: 'Deletes a draft.',
  id: idArg,
  remove: (context, id) => deleteCampaign(callerProject(context), id),
});
