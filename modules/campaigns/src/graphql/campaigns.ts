import '@postroom/emails/graphql';
import { EDITED_BY } from '@postroom/projects';
import { ContentFormat } from '@postroom/templates/graphql';
import {
  CampaignStatus,
  CreateCampaignInput,
  LOCAL_TIME,
  ScheduleCampaignInput,
  UpdateCampaignInput,
} from './inputs.ts';
import { listLinks, type TrackedLink } from '@postroom/tracking';
import {
  NAME_PART,
  atMost,
  authenticated,
  batchLoader,
  builder,
  callerProject,
  type Context,
  db,
  IDS,
  MAX_EMAIL_LENGTH,
  MAX_ID_LENGTH,
  MAX_MAILBOX_LENGTH,
  MAX_NAME_LENGTH,
  Node,
  columnsOf,
  registerNode,
  relayNames,
  removalMutation,
  rowsQuery,
  workflowUrl,
} from '@postroom/platform';
import { MAX_SUBJECT_LENGTH } from '@postroom/templating';
import {
  type Campaign as CampaignModel,
  createCampaign,
  deleteCampaign,
  getCampaign,
  listCampaigns,
  previousCampaign,
  MAX_BODY_LENGTH,
  MAX_PREVIEW_LENGTH,
  MAX_UTM_LENGTH,
  updateCampaign,
} from '../campaigns.ts';
import { type Deferred, loadDeferred } from '../deferred.ts';
import { type AwaitingLocalTime, loadAwaitingLocalTime, MAX_ZONE_LENGTH } from '../local-time.ts';
import { watchCampaign } from '../progress.ts';
import { workflowIdOf } from '../workflow.ts';
import {
  acknowledgeCampaign,
  cancelCampaign,
  pauseCampaign,
  resumeCampaign,
  scheduleCampaign,
  sendCampaign,
  unscheduleCampaign,
} from '../sending.ts';

const SUBJECT = atMost(MAX_SUBJECT_LENGTH);
const BODY = atMost(MAX_BODY_LENGTH);
const UTM = atMost(MAX_UTM_LENGTH);

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
    sent: t.int({
      description: 'Messages the provider accepted.',
      // A report of a delivery may be counted before the acceptance of its message.
      resolve: ({ acceptedCount, deliveredCount }) => Math.max(acceptedCount, deliveredCount),
    }),
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
    rejected: t.exposeInt('rejectedCount', {
      description: 'Messages that the provider rejected after accepting them, for example because of a virus.',
    }),
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

const Deferrals = builder.objectRef<Deferred>('CampaignDeferrals').implement({
  description: 'Planned messages that a server deferred and that will be retried.',
  fields: (t) => ({
    messages: t.exposeInt('messages', { description: 'Number of messages.' }),
    nextRetryAt: t.expose('nextRetryAt', { type: 'DateTime', description: 'When the first of them is due.' }),
  }),
});

const AwaitingLocalTime = builder.objectRef<AwaitingLocalTime>('CampaignAwaitingLocalTime').implement({
  description: 'Planned messages that wait for the local time of their recipients.',
  fields: (t) => ({
    messages: t.exposeInt('messages', {
      description: 'Number of messages when the recipients were counted, without those that were due since.',
    }),
    nextAt: t.expose('nextAt', { type: 'DateTime', description: 'When the next of them are due.' }),
  }),
});

function plannedOf(row: CampaignModel): number {
  const { recipientCount, claimedCount, acceptedCount, failedCount, suppressedCount, unknownCount, canceledCount } =
    row;
  return recipientCount - claimedCount - acceptedCount - failedCount - suppressedCount - unknownCount - canceledCount;
}

/** Columns of the row, and what is read for all rows at once, cost nothing more: a page of 1,000 campaigns stays below the limit of a query. */
const PART_OF_ROW = { field: 1, multiplier: 0 };

export const Campaign = builder.prismaObject('Campaign', {
  interfaces: [Node],
  description: 'A campaign: one email to many recipients.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Campaign id; also the id of its first Temporal workflow.' }),
    name: t.exposeString('name', { description: 'Display name.', ...atMost(MAX_NAME_LENGTH) }),
    subject: t.exposeString('subject', {
      nullable: true,
      description: 'Subject; may contain placeholders.',
      ...SUBJECT,
    }),
    previewText: t.exposeString('previewText', {
      nullable: true,
      description: 'The line that mail programs show after the subject; may contain placeholders.',
      ...atMost(MAX_PREVIEW_LENGTH),
    }),
    status: t.expose('status', { type: CampaignStatus, description: 'Current status.' }),
    scheduledAt: t.expose('scheduledAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'Scheduled start. A campaign with a `timeZoneField` starts when its local time first comes anywhere.',
    }),
    localTime: t.exposeString('localTime', {
      nullable: true,
      description:
        'The local time at which its messages go, such as `2026-12-01T09:00`; null if it starts at an instant.',
      ...LOCAL_TIME,
    }),
    timeZone: t.exposeString('timeZone', {
      nullable: true,
      description: 'The time zone of recipients without a valid one in `timeZoneField`; null without a local time.',
      ...atMost(MAX_ZONE_LENGTH),
    }),
    timeZoneField: t.exposeString('timeZoneField', {
      nullable: true,
      description: 'Key of the custom field with the time zone of a contact; null if all recipients have the same.',
      ...atMost(MAX_ID_LENGTH),
    }),
    recipientCount: t.exposeInt('recipientCount', {
      description: 'Number of recipients in the snapshot taken at the start; 0 before that.',
    }),
    countingRecipients: t.boolean({
      description: 'Whether `recipientCount` still grows, while recipients are counted after the start.',
      resolve: (row) => row.frozenAt === null && row.startedAt !== null && /sending|paused/.test(row.status),
    }),
    engagement: t.field({
      type: Engagement,
      description: 'Engagement counters.',
      complexity: PART_OF_ROW,
      resolve: (row) => row,
    }),
    progress: t.field({
      type: Progress,
      description: 'Recipients by state.',
      complexity: PART_OF_ROW,
      resolve: (row) => row,
    }),
    deferred: t.field({
      type: Deferrals,
      nullable: true,
      description: 'Messages waiting for a retry; null if there are none.',
      complexity: PART_OF_ROW,
      resolve: async (row, _args, context) => (plannedOf(row) > 0 ? await loadDeferred(context, row.id) : null),
    }),
    awaitingLocalTime: t.field({
      type: AwaitingLocalTime,
      nullable: true,
      description: 'Messages waiting for the local time of their recipients; null if there are none.',
      complexity: PART_OF_ROW,
      resolve: async (row, _args, context) =>
        row.timeZoneField !== null && /sending|paused/.test(row.status) && plannedOf(row) > 0
          ? await loadAwaitingLocalTime(context, row.id)
          : null,
    }),
    fromName: t.exposeString('fromName', {
      nullable: true,
      description: 'Display name of the sender.',
      ...atMost(MAX_NAME_LENGTH),
    }),
    fromEmail: t.exposeString('fromEmail', {
      nullable: true,
      description: 'From address.',
      ...atMost(MAX_EMAIL_LENGTH),
    }),
    replyTo: t.exposeString('replyTo', {
      nullable: true,
      description: 'Reply-to addresses.',
      ...atMost(MAX_MAILBOX_LENGTH),
    }),
    html: t.exposeString('html', {
      nullable: true,
      description: "The HTML body; from the start on, the template's body if it uses one.",
      ...BODY,
    }),
    format: t.expose('format', { type: ContentFormat, description: 'Format the body was written in.' }),
    source: t.exposeString('source', {
      nullable: true,
      description: 'The MJML source of the HTML; null if the body was written in HTML.',
      ...BODY,
    }),
    text: t.exposeString('text', {
      nullable: true,
      description: 'The text part; derived from the HTML if null.',
      ...BODY,
    }),
    templateId: t.exposeID('templateId', { nullable: true, description: 'The template that provides the body.' }),
    templateVersion: t.exposeInt('templateVersion', {
      nullable: true,
      description: 'The template version that is sent; null before the start or without a template.',
    }),
    groupIds: t.exposeStringList('groupIds', { description: 'The groups that it is sent to.', ...IDS }),
    segmentIds: t.exposeStringList('segmentIds', { description: 'The segments that it is sent to.', ...IDS }),
    excludedGroupIds: t.exposeStringList('excludedGroupIds', {
      description: 'Groups whose members are excluded.',
      ...IDS,
    }),
    excludedSegmentIds: t.exposeStringList('excludedSegmentIds', {
      description: 'Segments whose contacts are excluded.',
      ...IDS,
    }),
    utmSource: t.exposeString('utmSource', { nullable: true, description: '`utm_source` of its links.', ...UTM }),
    utmMedium: t.exposeString('utmMedium', { nullable: true, description: '`utm_medium` of its links.', ...UTM }),
    utmCampaign: t.exposeString('utmCampaign', { nullable: true, description: '`utm_campaign` of its links.', ...UTM }),
    utmTerm: t.exposeString('utmTerm', { nullable: true, description: '`utm_term` of its links.', ...UTM }),
    utmContent: t.exposeString('utmContent', { nullable: true, description: '`utm_content` of its links.', ...UTM }),
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
      description:
        'When sending resumes, if the campaign is waiting for its mail server, the next day or the local time of its recipients; null otherwise, and if that is not known.',
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
    abTestId: t.exposeID('abTestId', {
      nullable: true,
      description: 'The A/B test that it belongs to, which sends it; null if none.',
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
    url: t.exposeString('url', { description: 'Target URL, with placeholders as written.', ...BODY }),
    clicks: t.exposeInt('clicks', { description: 'Clicks by humans.' }),
    uniqueClicks: t.exposeInt('uniqueClicks', { description: 'Recipients who clicked it.' }),
    clicksByMachines: t.exposeInt('machineClicks', { description: 'Clicks by bots.' }),
  }),
});

/** What users change of a campaign. */
const AUDITED = [
  'name',
  'status',
  'scheduledAt',
  'localTime',
  'timeZone',
  'timeZoneField',
  'subject',
  'previewText',
  'fromName',
  'fromEmail',
  'replyTo',
  'templateId',
  'format',
  'html',
  'text',
  'groupIds',
  'segmentIds',
  'excludedGroupIds',
  'excludedSegmentIds',
  'utmSource',
  'utmMedium',
  'utmCampaign',
  'utmTerm',
  'utmContent',
  'trackOpens',
  'trackClicks',
  'ratePerSecond',
];

registerNode(
  'cmp',
  'Campaign',
  (context, ids) => db.campaign.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
  'read',
  {
    select: `SELECT id, ${columnsOf(AUDITED)} FROM campaigns WHERE id = ANY ($1::text[]) AND project_id = $2`,
  },
);
const idArg = 'Campaign id.';

builder.queryFields((t) => ({
  campaign: t.prismaField({
    type: Campaign,
    description: 'A campaign of the project; `not_found` if it does not exist.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: (query, _root, { id }, context) => getCampaign(callerProject(context), id, query),
  }),
  previousCampaign: t.prismaField({
    type: Campaign,
    nullable: true,
    description:
      'The campaign that was started before this one, to compare with, except others of its A/B test; null if there is none.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: (query, _root, { id }, context) => previousCampaign(callerProject(context), id, query),
  }),
  campaigns: t.connection(
    {
      type: Campaign,
      description: "The project's campaigns, newest first.",
      args: {
        status: t.arg({ type: CampaignStatus, description: 'Only campaigns in this status.' }),
        search: t.arg.string(NAME_PART),
      },
      resolve: (_root, { first, after, ...filter }, context, info) =>
        listCampaigns(callerProject(context), filter, { first, after }, rowsQuery(context, info)),
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
      description: 'Schedules or reschedules a campaign, for an instant or a local time; it must be ready to send.',
      args: { id, input: t.arg({ type: ScheduleCampaignInput, required: true, description: 'When it is sent.' }) },
      resolve: async (query, _root, { id, input }, context) => {
        await scheduleCampaign(callerProject(context), id, input);
        return getCampaign(callerProject(context), id, query);
      },
    }),
    sendCampaign: t.prismaField({
      type: Campaign,
      description: 'Starts a campaign now. Messages are sent in the background.',
      args: {
        id,
        version: t.arg.int({
          description:
            'The version to send; `conflict` if the campaign was edited since, so that nothing unseen is sent.',
        }),
      },
      resolve: async (query, _root, { version, ...args }, context) => {
        await sendCampaign(callerProject(context), args.id, version);
        return getCampaign(callerProject(context), args.id, query);
      },
    }),
    unscheduleCampaign: command(
      unscheduleCampaign,
      'Turns a scheduled campaign back into a draft, or one that could not start at its scheduled time.',
    ),
    pauseCampaign: command(pauseCampaign, 'Pauses a sending campaign. Messages in flight are still sent.'),
    resumeCampaign: command(resumeCampaign, 'Resumes a paused campaign.'),
    acknowledgeCampaign: command(
      acknowledgeCampaign,
      'Acknowledges that a completed campaign blocks its sender, which lifts the block.',
    ),
    cancelCampaign: command(cancelCampaign, 'Cancels a campaign; unsent messages are never sent.'),
  };
});

/** Scheduled campaigns by template, of up to 100 of each. */
const loadScheduled = batchLoader(async (context: Context, templateIds) => {
  const scheduled = await db.campaign.findMany({
    where: { projectId: callerProject(context), templateId: { in: [...templateIds] }, status: 'scheduled' },
    orderBy: { scheduledAt: 'asc' },
  });
  const byTemplate = Map.groupBy(scheduled, ({ templateId }) => templateId ?? '');
  return new Map([...byTemplate].map(([id, campaigns]) => [id, campaigns.slice(0, 100)]));
});

builder.prismaObjectField('Template', 'scheduledCampaigns', (t) =>
  t.field({
    type: [Campaign],
    description: 'Scheduled campaigns that will send it, at most 100: publishing changes what they send.',
    select: { id: true },
    complexity: 20,
    resolve: async ({ id }, _args, context) => (await loadScheduled(context, id)) ?? [],
  }),
);

removalMutation('campaignDelete', {
  replaces: 'deleteCampaign',
  description: 'Deletes a draft.',
  id: idArg,
  remove: (context, id) => deleteCampaign(callerProject(context), id),
});
