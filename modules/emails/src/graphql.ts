import {
  batchLoader,
  builder,
  callerProject,
  config,
  type Context,
  db,
  JSON_OBJECT,
  jsonSchema,
  managersOnly,
  type Prisma,
  Node,
  registerNode,
  rowsQuery,
  relayNames,
  atMost,
  workflowUrl,
  MAX_ID_LENGTH,
  MAX_MAILBOX_LENGTH,
  MAX_TAG_LENGTH,
  displayName,
} from '@postroom/platform';
import { MAX_SUBJECT_LENGTH } from '@postroom/templating';
import {
  cancelEmail,
  getEmail,
  listEmails,
  type QueuedEmail,
  rescheduleEmail,
  sendEmail,
  sendEmails,
} from './emails.ts';
import { EMAIL_OUTCOMES } from './email-outcomes.ts';
import {
  CONTENT_ID,
  MAX_ATTACHMENTS,
  MAX_CONTENT_ID_LENGTH,
  MAX_CONTENT_TYPE_LENGTH,
  MAX_FILENAME_LENGTH,
  MAX_RECIPIENTS,
  MAX_REPLY_TO,
} from './email-input.ts';
import { MAX_TEXT_LENGTH } from './fill-content.ts';
import { bodyOf } from './load-bodies.ts';
import { EMAIL_STATUSES, sendingHold, type SendingHold, statusOf, timelineOf, workflowOf } from '@postroom/ledger';

export const EmailStatus = builder.enumType('EmailStatus', {
  description: 'The status of an email.',
  values: Object.fromEntries(Object.entries(EMAIL_STATUSES).map(([name, description]) => [name, { description }])) as {
    [Name in keyof typeof EMAIL_STATUSES]: { description: string };
  },
});

const EmailOutcome = builder.enumType('EmailOutcome', {
  description: 'An outcome of a message, as `statistics` counts them; several may apply to one.',
  values: Object.fromEntries(Object.entries(EMAIL_OUTCOMES).map(([name, description]) => [name, { description }])) as {
    [Name in keyof typeof EMAIL_OUTCOMES]: { description: string };
  },
});

const loadAttachments = batchLoader(async (_: Context, ids) => {
  const attachments = await db.messageAttachment.findMany({
    where: { messageId: { in: [...ids] }, alternative: false },
    orderBy: { position: 'asc' },
    omit: { content: true },
  });
  return Map.groupBy(attachments, ({ messageId }) => messageId);
});

/** The ledger rows of an email, one per recipient. */
const loadCopies = batchLoader(async (_: Context, ids) => {
  const where = { OR: [{ id: { in: [...ids] } }, { copyOf: { in: [...ids] } }] };
  const messages = await db.message.findMany({ where, orderBy: { id: 'asc' } });
  return Map.groupBy(messages, ({ id, copyOf }) => copyOf ?? id);
});

const EmailEvent = builder.objectRef<{ type: string; at: Date; detail: string | null }>('EmailEvent').implement({
  description: 'An event in the history of an email.',
  fields: (t) => ({
    type: t.exposeString('type', { description: 'The event type, such as `email.sent`.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When it happened.' }),
    detail: t.exposeString('detail', { nullable: true, description: 'The answer of the server, if any.' }),
  }),
});

const EmailRecipient = builder.objectRef<Prisma.MessageModel>('EmailRecipient').implement({
  description: 'A recipient of an email, with its own status.',
  fields: (t) => ({
    email: t.expose('email', { type: 'EmailAddress', description: 'The address.' }),
    status: t.field({
      type: EmailStatus,
      description: 'The status for this recipient.',
      resolve: (row) => statusOf(row),
    }),
    answer: t.exposeString('answer', { nullable: true, description: "The server's last answer." }),
  }),
});

const EmailAttachment = builder.objectRef<Omit<Prisma.MessageAttachmentModel, 'content'>>('EmailAttachment').implement({
  description: 'An attachment of an email.',
  fields: (t) => ({
    filename: t.exposeString('filename', { description: 'The filename.', ...atMost(MAX_FILENAME_LENGTH) }),
    contentType: t.exposeString('contentType', {
      nullable: true,
      description: 'The content type, if given.',
      ...atMost(MAX_CONTENT_TYPE_LENGTH),
    }),
    contentId: t.exposeString('contentId', {
      nullable: true,
      description: 'The target of `cid:` links.',
      ...atMost(MAX_CONTENT_ID_LENGTH),
    }),
  }),
});

/** What a message says of itself, without its bodies: a page of them would be gigabytes. */
const content = {
  content: { select: { from: true, to: true, cc: true, bcc: true, replyTo: true, scheduledAt: true } },
} as const;

const BODY = atMost(MAX_TEXT_LENGTH);
const MAILBOXES = jsonSchema({ items: { type: 'string', maxLength: MAX_MAILBOX_LENGTH } });

const Email = builder.prismaObject('Message', {
  name: 'Email',
  interfaces: [Node],
  description: 'An email, transactional or of a campaign.',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Message id, the same in every event about it.' }),
    status: t.field({
      type: EmailStatus,
      description: 'The status; for several recipients, that of the first.',
      select: {
        state: true,
        dispatchedAt: true,
        deferredAt: true,
        notBefore: true,
        campaignId: true,
        deliveredAt: true,
        bouncedAt: true,
        complainedAt: true,
        rejectedAt: true,
      },
      resolve: (message) => statusOf(message),
    }),
    from: t.string({
      nullable: true,
      description: 'The sender; null for a campaign message, whose sender is on the campaign.',
      ...atMost(MAX_MAILBOX_LENGTH),
      select: content,
      resolve: ({ content }) => content?.from ?? null,
    }),
    to: t.stringList({
      description: 'Recipients.',
      ...MAILBOXES,
      select: { ...content, email: true },
      resolve: ({ content, email }) => (content?.to as string[] | undefined) ?? [email],
    }),
    cc: t.stringList({
      description: 'Cc recipients.',
      ...MAILBOXES,
      select: content,
      resolve: (row) => listOf(row.content?.cc),
    }),
    bcc: t.stringList({
      description: 'Bcc recipients.',
      ...MAILBOXES,
      select: content,
      resolve: (row) => listOf(row.content?.bcc),
    }),
    replyTo: t.stringList({
      description: 'Reply-to addresses.',
      ...MAILBOXES,
      select: content,
      resolve: (row) => listOf(row.content?.replyTo),
    }),
    subject: t.exposeString('subject', {
      nullable: true,
      description: "The rendered subject; null if it equals the campaign's.",
    }),
    html: t.string({
      nullable: true,
      description: 'The HTML body; null if there is none or the email belongs to a campaign.',
      ...BODY,
      resolve: async ({ id }, _args, context) => (await bodyOf(context, id, 'html')) ?? null,
    }),
    text: t.string({
      nullable: true,
      description: 'The text body; null if it is generated from the HTML.',
      ...BODY,
      resolve: async ({ id }, _args, context) => (await bodyOf(context, id, 'text')) ?? null,
    }),
    headers: t.field({
      type: 'JSON',
      description: 'Custom headers.',
      ...JSON_OBJECT,
      resolve: async ({ id }, _args, context) => (await bodyOf(context, id, 'headers')) ?? {},
    }),
    attachments: t.field({
      type: [EmailAttachment],
      description: 'Attachments.',
      resolve: async ({ id }, _args, context) => (await loadAttachments(context, id)) ?? [],
    }),
    tags: t.stringList({
      description: 'Tags set by the sender.',
      ...jsonSchema({ items: { type: 'string', maxLength: MAX_TAG_LENGTH } }),
      select: { tags: true },
      resolve: (row) => listOf(row.tags),
    }),
    metadata: t.field({
      type: 'JSON',
      description: 'Metadata set by the sender; echoed in events.',
      ...JSON_OBJECT,
      select: { metadata: true },
      resolve: ({ metadata }) => metadata ?? {},
    }),
    campaignId: t.exposeID('campaignId', {
      nullable: true,
      description: 'The campaign; null for transactional mail.',
    }),
    contactId: t.exposeID('contactId', {
      nullable: true,
      description: 'The recipient contact; null for transactional mail.',
    }),
    answer: t.exposeString('answer', {
      nullable: true,
      description: "The server's last answer, or why there was none.",
    }),
    scheduledAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The requested send time; null for immediately.',
      select: content,
      resolve: ({ content }) => content?.scheduledAt ?? null,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was accepted.' }),
    workflowId: t.id({
      nullable: true,
      description:
        'Its workflow in Temporal: its own, one of up to 100 emails, or `burst_…`, which drained the queue. The results of its activities give the outcome of each email. Null before it has one, and for a campaign message, which the workflow of its campaign sends.',
      select: { workflowId: true, claim: true },
      resolve: (message) => workflowOf(message),
    }),
    workflowUrl: t.string({
      nullable: true,
      description:
        'Its workflow in the Temporal UI; null before it has one, or if the URL of the UI is not configured.',
      select: { workflowId: true, claim: true },
      resolve: (message) => {
        const workflowId = workflowOf(message);
        return workflowId === null ? undefined : workflowUrl(workflowId);
      },
    }),
    recipients: t.field({
      type: [EmailRecipient],
      description: 'All recipients.',
      resolve: async ({ id }, _args, context) => (await loadCopies(context, id)) ?? [],
    }),
    events: t.field({
      type: [EmailEvent],
      description: 'The history of the email, oldest first.',
      resolve: async ({ id }, _args, context) => {
        const message = (await loadCopies(context, id))?.find((copy) => copy.id === id);
        return message === undefined ? [] : timelineOf(message);
      },
    }),
  }),
});

const listOf = (value: unknown): string[] => (Array.isArray(value) ? (value as string[]) : []);

registerNode(
  'eml',
  'Email',
  (context, ids) =>
    db.message.findMany({ where: { projectId: callerProject(context), id: { in: ids }, copyOf: null } }),
  'read',
  // A subject may hold personal data, so the log has none of an email.
  {
    select: `SELECT id, state, not_before AS "scheduledAt" FROM messages
      WHERE id = ANY ($1::text[]) AND project_id = $2 AND copy_of IS NULL`,
    of: ({ id: _, ...values }: { id: string }) => ({ name: null, values }),
  },
);

builder.queryFields((t) => ({
  inboxUrl: t.string({
    nullable: true,
    description: 'The URL of the development inbox; null if mail is delivered.',
    resolve: () => config.INBOX_URL ?? null,
  }),
  email: t.prismaField({
    type: Email,
    description: 'An email of the project; `not_found` if it does not exist.',
    args: { id: t.arg.id({ required: true, description: 'Message id.' }) },
    resolve: (query, _root, { id }, context) => getEmail(callerProject(context), id, query),
  }),
  emails: t.connection(
    {
      type: Email,
      description: "The project's transactional emails, or the messages of a campaign, newest first.",
      args: {
        status: t.arg({ type: EmailStatus, description: 'Only emails with this status.' }),
        to: t.arg.string({ description: 'Only emails to this address, ignoring case.' }),
        tag: t.arg.string({ description: 'Only emails with this tag.' }),
        campaignId: t.arg.id({ description: 'The messages of this campaign instead of transactional mail.' }),
        createdAfter: t.arg({ type: 'DateTime', description: 'Only emails accepted after this time.' }),
        createdBefore: t.arg({ type: 'DateTime', description: 'Only emails accepted before this time.' }),
        outcome: t.arg({
          type: EmailOutcome,
          description: 'Only emails with this outcome since `since`, those of campaigns included.',
        }),
        since: t.arg({ type: 'DateTime', description: 'Start of the period of `outcome`; at most 400 days.' }),
        until: t.arg({ type: 'DateTime', description: 'End of the period of `outcome`; now if omitted.' }),
      },
      resolve: (_root, { first, after, ...filter }, context, info) =>
        listEmails(callerProject(context), filter, { first, after }, rowsQuery(context, info)),
    },
    ...relayNames('Email'),
  ),
}));

const AttachmentInput = builder.inputType('AttachmentInput', {
  description: 'A file to attach.',
  fields: (t) => ({
    filename: t.string({
      required: true,
      description: 'Filename: 1 to 255 characters without slashes or control characters.',
      ...jsonSchema({ minLength: 1, maxLength: MAX_FILENAME_LENGTH, pattern: '^[^\\x00-\\x1f\\x7f/\\\\]+$' }),
    }),
    content: t.string({
      required: true,
      description: 'The content in base64.',
      ...jsonSchema({ maxLength: 40 * 1024 * 1024 }),
    }),
    contentType: t.string({
      description: 'The content type; derived from the filename by default.',
      ...atMost(MAX_CONTENT_TYPE_LENGTH),
    }),
    contentId: t.string({
      description: 'For an inline image: the target of `cid:` links in the HTML.',
      ...jsonSchema({ maxLength: MAX_CONTENT_ID_LENGTH, pattern: CONTENT_ID.source }),
    }),
  }),
});

const OR_ONE = 'One address may be given as a string instead of a list.';
const TAGS = jsonSchema({
  maxItems: 20,
  items: { type: 'string', ...displayName(MAX_TAG_LENGTH) },
});

const SendEmailInput = builder.inputType('SendEmailInput', {
  description: 'A transactional email.',
  fields: (t) => ({
    from: t.string({
      required: true,
      description: 'The sender, at a domain of the project that is verified for sending.',
      ...jsonSchema({ minLength: 1, maxLength: MAX_MAILBOX_LENGTH }),
    }),
    to: t.field({
      type: 'AddressList',
      required: true,
      description: `Recipients; at most ${MAX_RECIPIENTS} together with cc and bcc. ${OR_ONE}`,
      ...jsonSchema({ minItems: 1, maxItems: MAX_RECIPIENTS }),
    }),
    cc: t.field({
      type: 'AddressList',
      description: `Cc recipients. ${OR_ONE}`,
      ...jsonSchema({ maxItems: MAX_RECIPIENTS }),
    }),
    bcc: t.field({
      type: 'AddressList',
      description: `Bcc recipients. ${OR_ONE}`,
      ...jsonSchema({ maxItems: MAX_RECIPIENTS }),
    }),
    replyTo: t.field({
      type: 'AddressList',
      description: `Reply-to addresses; at most ${MAX_REPLY_TO}. ${OR_ONE}`,
      ...jsonSchema({ maxItems: MAX_REPLY_TO }),
    }),
    subject: t.string({
      description: "At most 998 characters; the template's subject by default.",
      ...atMost(MAX_SUBJECT_LENGTH),
    }),
    html: t.string({
      description: 'The HTML body: at most 5,000,000 characters and 50,000 elements, nested at most 200 deep.',
      ...BODY,
    }),
    text: t.string({ description: 'The text body; generated from the HTML by default.', ...BODY }),
    templateId: t.string({
      description: 'A published template whose body is the HTML.',
      ...atMost(MAX_ID_LENGTH),
    }),
    variables: t.field({
      type: 'JSON',
      description: 'An object of values for placeholders such as `{{name|there}}`.',
      ...JSON_OBJECT,
    }),
    headers: t.field({ type: 'JSON', description: 'An object of additional headers.', ...JSON_OBJECT }),
    attachments: t.field({
      type: [AttachmentInput],
      description: 'Files to attach.',
      ...jsonSchema({ maxItems: MAX_ATTACHMENTS }),
    }),
    tags: t.stringList({ description: 'At most 20 tags to filter by.', ...TAGS }),
    metadata: t.field({ type: 'JSON', description: 'An object that is echoed in its events.', ...JSON_OBJECT }),
    trackOpens: t.boolean({ description: "Whether opens are tracked; the project's setting by default." }),
    trackClicks: t.boolean({ description: "Whether clicks are tracked; the project's setting by default." }),
    scheduledAt: t.field({ type: 'DateTime', description: 'When to send it; immediately by default.' }),
  }),
});

const SendEmailsInput = builder.inputType('SendEmailsInput', {
  description: 'Several transactional emails.',
  fields: (t) => ({
    emails: t.field({
      type: [SendEmailInput],
      required: true,
      description: '1 to 100 emails; either all are accepted or none.',
      ...jsonSchema({ minItems: 1, maxItems: 100 }),
    }),
  }),
});

const RescheduleEmailInput = builder.inputType('RescheduleEmailInput', {
  description: 'A new time for a scheduled email.',
  fields: (t) => ({
    scheduledAt: t.field({ type: 'DateTime', required: true, description: 'When to send it.' }),
  }),
});

const loadEmails = batchLoader(async (context: Context, ids) => {
  const where = { projectId: callerProject(context), id: { in: [...ids] } };
  return new Map((await db.message.findMany({ where })).map((message) => [message.id, message]));
});

const QueuedEmail = builder.objectRef<QueuedEmail>('QueuedEmail').implement({
  description: 'An email accepted for sending.',
  fields: (t) => ({
    messageId: t.exposeID('id', { description: 'Message id.' }),
    email: t.field({
      type: Email,
      nullable: true,
      authScopes: { read: true },
      description: 'The email. Not available to a sending key.',
      resolve: ({ id }, _args, context) => loadEmails(context, id),
    }),
    id: t.exposeID('id', { description: 'Message id.', deprecationReason: 'Use QueuedEmail.messageId.' }),
    status: t.expose('status', {
      type: EmailStatus,
      description: '`queued`; `scheduled` if it has a send time; `suppressed` if all recipients are suppressed.',
    }),
  }),
});

const idArg = 'Message id.';

builder.mutationFields((t) => ({
  sendEmail: t.field({
    type: QueuedEmail,
    description: 'Sends a transactional email. It is stored before the response.',
    skipTypeScopes: true,
    authScopes: { sending: true },
    args: { input: t.arg({ type: SendEmailInput, required: true, description: 'The email.' }) },
    resolve: (_root, { input }, context) => sendEmail(callerProject(context), input),
  }),
  sendEmails: t.field({
    type: [QueuedEmail],
    description: 'Sends up to 100 transactional emails, all or none.',
    args: { input: t.arg({ type: SendEmailsInput, required: true, description: 'The emails.' }) },
    resolve: (_root, { input }, context) => sendEmails(callerProject(context), input.emails),
  }),
  cancelEmail: t.prismaField({
    type: Email,
    description: 'Cancels the unsent messages of an email; `conflict` if none is left.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: async (query, _root, { id }, context) => {
      await cancelEmail(callerProject(context), id);
      return getEmail(callerProject(context), id, query);
    },
  }),
  rescheduleEmail: t.prismaField({
    type: Email,
    description: 'Reschedules an email; `conflict` if it is no longer scheduled.',
    args: {
      id: t.arg.id({ required: true, description: idArg }),
      input: t.arg({ type: RescheduleEmailInput, required: true, description: 'The new time.' }),
    },
    resolve: async (query, _root, { id, input }, context) => {
      await rescheduleEmail(callerProject(context), id, input.scheduledAt);
      return getEmail(callerProject(context), id, query);
    },
  }),
}));

const SendingHoldType = builder.objectRef<SendingHold>('SendingHold').implement({
  description: 'That the installation sends no mail until an operator releases it.',
  fields: (t) => ({
    reason: t.exposeString('reason', { description: 'Why it is held.' }),
    since: t.expose('since', { type: 'DateTime', nullable: true, description: 'Since when; null for `HOLD_SENDING`.' }),
    remedy: t.exposeString('remedy', { description: 'What an operator does to release it.' }),
  }),
});

builder.queryField('sendingHold', (t) =>
  t.field({
    type: SendingHoldType,
    nullable: true,
    ...managersOnly,
    description:
      'Why the installation sends no mail, for owners and admins; null while it sends. Mail is accepted in either case.',
    resolve: async () => (await sendingHold()) ?? null,
  }),
);
