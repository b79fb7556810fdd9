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
  description: 'Status of a campaign.',
  values: {
    draft: { description: 'Can be edited and sent.' },
    scheduled: { description: 'Starts at its scheduled time; can be edited or sent until then.' },
    sending: { description: 'Messages are being sent in the background.' },
    paused: {
      description: 'Nothing is sent until it is resumed. If it was paused automatically, `pauseReason` says why.',
    },
    completed: { description: 'Sent to all recipients.' },
    canceled: { description: 'Ended before all messages were sent.' },
  },
});

/** Whether the transport reports what happens to messages after it accepts them. */
const DeliveryTracking = builder.enumType('DeliveryTracking', {
  description: 'What the number of delivered messages means.',
  values: {
    reported: {
      description: 'The transport reports deliveries. The outcome of a message without a report is not known yet.',
    },
    accepted_only: {
      description:
        'No deliveries have been reported, for example because an SMTP relay sends no delivery status notifications. Messages are known to be accepted (`sent`), not delivered.',
    },
  } as const,
});

const Engagement = builder.objectRef<CampaignModel>('CampaignEngagement').implement({
  description: 'Engagement counters.',
  fields: (t) => ({
    sent: t.exposeInt('acceptedCount', { description: 'Messages the provider accepted.' }),
    delivered: t.exposeInt('deliveredCount', {
      description: "Messages the recipients' servers reported as accepted; see `deliveryTracking`.",
    }),
    deliveryTracking: t.field({
      type: DeliveryTracking,
      nullable: true,
      description: 'Whether deliveries are reported; null until a message is accepted.',
      resolve: ({ acceptedCount, deliveredCount }) =>
        deliveredCount > 0 ? 'reported' : acceptedCount > 0 ? 'accepted_only' : null,
    }),
    opened: t.exposeInt('openedCount', { description: 'Recipients who opened the message.' }),
    clicked: t.exposeInt('clickedCount', { description: 'Recipients who clicked a link.' }),
    openedByMachines: t.exposeInt('machineOpenedCount', {
      description: 'Messages opened by a bot, such as a privacy proxy that fetches images on arrival.',
    }),
    clickedByMachines: t.exposeInt('machineClickedCount', {
      description: 'Messages clicked by a bot, such as a link scanner.',
    }),
    bounced: t.exposeInt('bouncedCount', { description: 'Messages that bounced.' }),
    complained: t.exposeInt('complainedCount', { description: 'Recipients who marked it as spam.' }),
    unsubscribed: t.exposeInt('unsubscribedCount', { description: 'Recipients who unsubscribed.' }),
  }),
});

const Progress = builder.objectRef<CampaignModel>('CampaignProgress').implement({
  description: 'Number of recipients in each state; the sum is the number of recipients.',
  fields: (t) => ({
    planned: t.int({ description: 'To be sent.', resolve: plannedOf }),
    claimed: t.exposeInt('claimedCount', { description: 'Being sent.' }),
    accepted: t.exposeInt('acceptedCount', { description: 'Accepted by the provider.' }),
    failed: t.exposeInt('failedCount', { description: 'Permanently rejected.' }),
    suppressed: t.exposeInt('suppressedCount', { description: 'Not sent: the address is suppressed.' }),
    unknown: t.exposeInt('unknownCount', { description: 'Possibly accepted; the outcome cannot be known.' }),
    canceled: t.exposeInt('canceledCount', { description: 'Canceled before being sent.' }),
  }),
});

function plannedOf(row: CampaignModel): number {
  const { recipientCount, claimedCount, acceptedCount, failedCount, suppressedCount, unknownCount, canceledCount } =
    row;
  return recipientCount - claimedCount - acceptedCount - failedCount - suppressedCount - unknownCount - canceledCount;
}

const Campaign = builder.prismaObject('Campaign', {
  interfaces: [Node],
  description: 'A mailing to many recipients.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Campaign id; also the id of its first Temporal workflow.' }),
    name: t.exposeString('name', { description: 'Display name.' }),
    subject: t.exposeString('subject', { nullable: true, description: 'Subject; may contain placeholders.' }),
    status: t.expose('status', { type: CampaignStatus, description: 'Current status.' }),
    scheduledAt: t.expose('scheduledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Scheduled start.',
    }),
    recipientCount: t.exposeInt('recipientCount', {
      description: 'Number of recipients in the snapshot taken at the start; 0 before that.',
    }),
    engagement: t.field({ type: Engagement, description: 'Engagement counters.', resolve: (row) => row }),
    progress: t.field({ type: Progress, description: 'Recipients by state.', resolve: (row) => row }),
    fromName: t.exposeString('fromName', { nullable: true, description: 'Display name of the sender.' }),
    fromEmail: t.exposeString('fromEmail', { nullable: true, description: 'From address.' }),
    replyTo: t.exposeString('replyTo', { nullable: true, description: 'Reply-to addresses.' }),
    html: t.exposeString('html', {
      nullable: true,
      description: "The HTML body; from the start on, the template's body if it uses one.",
    }),
    format: t.expose('format', { type: ContentFormat, description: 'Format the body was written in.' }),
    source: t.exposeString('source', {
      nullable: true,
      description: 'The MJML source of the HTML; null if the body was written in HTML.',
    }),
    text: t.exposeString('text', { nullable: true, description: 'The text part; derived from the HTML if null.' }),
    templateId: t.exposeID('templateId', { nullable: true, description: 'The template that provides the body.' }),
    templateVersion: t.exposeInt('templateVersion', {
      nullable: true,
      description: 'The template version that is sent; null before the start or without a template.',
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
        'Why it was paused automatically, or why it blocks its sender after completion; null if a user paused it.',
    }),
    waitingUntil: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When sending resumes, if the campaign is waiting for the next day; null otherwise.',
      resolve: ({ status, waitingUntil }) => (status === 'sending' ? waitingUntil : null),
    }),
    waitingReason: t.string({
      nullable: true,
      description: 'Why the campaign is waiting; null if it is not.',
      resolve: ({ status, waitingReason }) => (status === 'sending' ? waitingReason : null),
    }),
    blocksSender: t.exposeBoolean('pauseBlocksSender', {
      description:
        "Whether it blocks other campaigns from its sender's domain because of bounces, complaints or rejections. Resume or cancel it to lift the block, or acknowledge it if it is completed.",
    }),
    ratePerSecond: t.exposeInt('ratePerSecond', {
      nullable: true,
      description: 'Maximum messages per second; null for no limit.',
    }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'When it was started.' }),
    workflowUrl: t.string({
      nullable: true,
      description:
        'Its current workflow in the Temporal UI; null before the start or if the UI address is not configured.',
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
        "When its recipients were deleted because the project's message retention period had passed. Counters are kept; recipients are no longer listed.",
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description: 'When it was last edited, or its status last changed by a command.',
    }),
    version: t.exposeInt('version', {
      description: 'Incremented by each edit; an edit may name the version it is based on.',
    }),
    editedById: t.exposeID('editedById', EDITED_BY.id),
    editedByName: t.string(EDITED_BY.name),
  }),
});

const Link = builder.objectRef<TrackedLink>('CampaignLink').implement({
  description: 'A tracked link of a campaign, and its clicks.',
  fields: (t) => ({
    position: t.exposeInt('position', { description: 'Position in the HTML, from 0.' }),
    url: t.exposeString('url', { description: 'Target URL, with placeholders as written.' }),
    clicks: t.exposeInt('clicks', { description: 'Clicks by humans.' }),
    uniqueClicks: t.exposeInt('uniqueClicks', { description: 'Recipients who clicked it.' }),
    clicksByMachines: t.exposeInt('machineClicks', { description: 'Clicks by bots.' }),
  }),
});

registerNode('cmp', 'Campaign', (context, ids) =>
  db.campaign.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
);

const idArg = 'Campaign id.';

builder.queryFields((t) => ({
  campaign: t.prismaField({
    type: Campaign,
    description: 'A campaign of the project; `not_found` if it does not exist.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: (query, _root, { id }, context) => getCampaign(callerProject(context), id, query),
  }),
  campaigns: t.connection(
    {
      type: Campaign,
      description: "The project's campaigns, newest first.",
      args: { status: t.arg({ type: CampaignStatus, description: 'Only campaigns in this status.' }) },
      resolve: (_root, { first, after, status }, context, info) =>
        listCampaigns(callerProject(context), { status }, { first, after }, rowsQuery(context, info)),
    },
    ...relayNames('Campaign'),
  ),
  campaignLinks: t.field({
    type: [Link],
    description: 'The tracked links of a campaign that has started, in document order.',
    complexity: 50,
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: async (_root, { id }, context) => listLinks((await getCampaign(callerProject(context), id)).id),
  }),
}));

builder.subscriptionField('campaignProgress', (t) =>
  t.field({
    type: Campaign,
    description: 'A campaign now and after each change, until it has ended and its deliveries are reported.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    subscribe: (_root, { id }, context) => watchCampaign(callerProject(context), id),
    resolve: (campaign) => campaign,
  }),
);

const describe = {
  subject: 'At most 998 characters; may contain placeholders such as `{{name|there}}`.',
  fromName: 'Display name of the sender.',
  fromEmail: 'From address; its domain must be verified in the project when the campaign is sent.',
  replyTo: 'Reply-to addresses.',
  html: 'The body, as HTML or MJML; used instead of a template.',
  format: 'Format of the body; HTML by default.',
  text: 'The text part; derived from the HTML if omitted.',
  templateId: 'A template that provides the body; its version at the start is used.',
  groupIds: 'Groups to send to.',
  segmentIds: 'Segments to send to.',
  ratePerSecond: 'Maximum messages per second.',
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
  description: 'Fields to update; omitted fields are unchanged, and null clears a field.',
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
      description: `${describe.ratePerSecond} Can be changed while the campaign is sending.`,
      ...RATE,
    }),
    version: t.int({
      description: 'The version this edit is based on; `conflict` if it is no longer current.',
    }),
  }),
});

const ScheduleCampaignInput = builder.inputType('ScheduleCampaignInput', {
  description: 'When to start a campaign.',
  fields: (t) => ({
    scheduledAt: t.field({
      type: 'DateTime',
      required: true,
      description: 'A time in the future, with a UTC offset.',
    }),
  }),
});

const TestSendInput = builder.inputType('TestCampaignInput', {
  description: 'Recipients of a test.',
  fields: (t) => ({
    emails: t.stringList({
      required: true,
      description: '1 to 10 addresses.',
      ...listOf(ADDRESS, { minItems: 1, maxItems: 10 }),
    }),
    contactId: t.string({ description: 'The contact whose values fill the placeholders; defaults if omitted.' }),
  }),
});

const TestEmail = builder.objectRef<QueuedEmail>('TestEmail').implement({
  description: 'A queued test email.',
  fields: (t) => ({
    messageId: t.exposeID('id', { description: 'Message id.' }),
    id: t.exposeID('id', { description: 'Message id.', deprecationReason: 'Use TestEmail.messageId.' }),
    status: t.exposeString('status', { description: '`queued`, or `suppressed`.' }),
  }),
});

builder.mutationFields((t) => {
  const id = t.arg.id({ required: true, description: idArg });
  /** A mutation that changes the status and returns the updated campaign. */
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
      description: 'Updates a draft or scheduled campaign, or the rate of one that is sending.',
      args: { id, input: t.arg({ type: UpdateCampaignInput, required: true, description: 'What to change.' }) },
      resolve: async (query, _root, { id, input }, context) => {
        await updateCampaign(callerProject(context), authenticated(context).id, id, input);
        return getCampaign(callerProject(context), id, query);
      },
    }),
    scheduleCampaign: t.prismaField({
      type: Campaign,
      description: 'Schedules or reschedules a campaign; it must be ready to send.',
      args: { id, input: t.arg({ type: ScheduleCampaignInput, required: true, description: 'The start time.' }) },
      resolve: async (query, _root, { id, input }, context) => {
        await scheduleCampaign(callerProject(context), id, input.scheduledAt);
        return getCampaign(callerProject(context), id, query);
      },
    }),
    testCampaign: t.field({
      type: [TestEmail],
      description: 'Sends a test of the campaign to a few addresses.',
      args: { id, input: t.arg({ type: TestSendInput, required: true, description: 'The recipients.' }) },
      resolve: (_root, { id, input }, context) => sendTest(callerProject(context), id, input),
    }),
    sendCampaign: command(sendCampaign, 'Starts a campaign now. Messages are sent in the background.'),
    unscheduleCampaign: command(unscheduleCampaign, 'Turns a scheduled campaign back into a draft.'),
    pauseCampaign: command(pauseCampaign, 'Pauses a sending campaign. Messages in flight are still sent.'),
    resumeCampaign: command(resumeCampaign, 'Resumes a paused campaign.'),
    acknowledgeCampaign: command(
      acknowledgeCampaign,
      'Acknowledges why a completed campaign blocks its sender. Campaigns from its domain can be sent again.',
    ),
    cancelCampaign: command(cancelCampaign, 'Cancels a campaign; unsent messages are never sent.'),
  };
});

removalMutation('campaignDelete', {
  replaces: 'deleteCampaign',
  description: 'Deletes a draft.',
  id: idArg,
  remove: (context, id) => deleteCampaign(callerProject(context), id),
});
