import {
  batchLoader,
  builder,
  callerProject,
  config,
  type Context,
  db,
  JSON_OBJECT,
  jsonSchema,
  type Prisma,
  Node,
  registerNode,
  rowsQuery,
  relayNames,
} from '@postroom/platform';
import {
  cancelEmail,
  getEmail,
  listEmails,
  type QueuedEmail,
  rescheduleEmail,
  sendEmail,
  sendEmails,
} from './emails.ts';
import { EMAIL_STATUSES, statusOf } from '@postroom/ledger';
import { timelineOf } from '@postroom/ledger';

const EmailStatus = builder.enumType('EmailStatus', {
  description: 'Where an email is.',
  values: Object.fromEntries(Object.entries(EMAIL_STATUSES).map(([name, description]) => [name, { description }])) as {
    [Name in keyof typeof EMAIL_STATUSES]: { description: string };
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

/** The rows of an email: its own, and one for each further address it goes to. */
const loadCopies = batchLoader(async (_: Context, ids) => {
  const where = { OR: [{ id: { in: [...ids] } }, { copyOf: { in: [...ids] } }] };
  const messages = await db.message.findMany({ where, orderBy: { id: 'asc' } });
  return Map.groupBy(messages, ({ id, copyOf }) => copyOf ?? id);
});

const EmailEvent = builder.objectRef<{ type: string; at: Date; detail: string | null }>('EmailEvent').implement({
  description: 'Something that happened to an email.',
  fields: (t) => ({
    type: t.exposeString('type', { description: 'Such as `email.sent`; the event of that name tells webhooks.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When.' }),
    detail: t.exposeString('detail', { nullable: true, description: 'What a server answered, where it did.' }),
  }),
});

const EmailRecipient = builder.objectRef<Prisma.MessageModel>('EmailRecipient').implement({
  description: 'One of the addresses that an email goes to, each of which has its own fate.',
  fields: (t) => ({
    email: t.expose('email', { type: 'EmailAddress', description: 'The address.' }),
    status: t.field({ type: EmailStatus, description: 'Where its copy is.', resolve: (row) => statusOf(row) }),
    answer: t.exposeString('answer', { nullable: true, description: "The server's last answer." }),
  }),
});

const EmailAttachment = builder.objectRef<Omit<Prisma.MessageAttachmentModel, 'content'>>('EmailAttachment').implement({
  description: 'A file that goes with an email.',
  fields: (t) => ({
    filename: t.exposeString('filename', { description: 'What it is called.' }),
    contentType: t.exposeString('contentType', { nullable: true, description: 'Its content type, if one was given.' }),
    contentId: t.exposeString('contentId', { nullable: true, description: 'What `cid:` links name.' }),
  }),
});

const content = { content: true } as const;

const Email = builder.prismaObject('Message', {
  name: 'Email',
  interfaces: [Node],
  description: 'One email, transactional or of a campaign.',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Message id, the same in every event about it.' }),
    status: t.field({
      type: EmailStatus,
      description: 'Where it is; of several addresses, the first.',
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
      description: 'The sender; null for a message of a campaign, which names it.',
      select: content,
      resolve: ({ content }) => content?.from ?? null,
    }),
    to: t.stringList({
      description: 'Recipients.',
      select: { content: true, email: true },
      resolve: ({ content, email }) => (content?.to as string[] | undefined) ?? [email],
    }),
    cc: t.stringList({
      description: 'Recipients of a copy.',
      select: content,
      resolve: (row) => listOf(row.content?.cc),
    }),
    bcc: t.stringList({
      description: 'Recipients of a blind copy.',
      select: content,
      resolve: (row) => listOf(row.content?.bcc),
    }),
    replyTo: t.stringList({
      description: 'Reply-to addresses.',
      select: content,
      resolve: (row) => listOf(row.content?.replyTo),
    }),
    subject: t.exposeString('subject', {
      nullable: true,
      description: "With placeholders filled in; null when it is its campaign's as it stands.",
    }),
    html: t.string({
      nullable: true,
      description: 'Its HTML; null when it has none, or belongs to a campaign.',
      select: content,
      resolve: ({ content }) => content?.html ?? null,
    }),
    text: t.string({
      nullable: true,
      description: 'Its text; null when it is made from the HTML.',
      select: content,
      resolve: ({ content }) => content?.text ?? null,
    }),
    headers: t.field({
      type: 'JSON',
      description: 'Headers that the sender added.',
      ...JSON_OBJECT,
      select: content,
      resolve: ({ content }) => content?.headers ?? {},
    }),
    attachments: t.field({
      type: [EmailAttachment],
      description: 'The files that go with it.',
      resolve: async ({ id }, _args, context) => (await loadAttachments(context, id)) ?? [],
    }),
    tags: t.stringList({
      description: 'What the sender marked it with.',
      select: { tags: true },
      resolve: (row) => listOf(row.tags),
    }),
    metadata: t.field({
      type: 'JSON',
      description: 'What the sender gave; echoed in events.',
      ...JSON_OBJECT,
      select: { metadata: true },
      resolve: ({ metadata }) => metadata ?? {},
    }),
    campaignId: t.exposeID('campaignId', {
      nullable: true,
      description: 'The campaign it belongs to; null otherwise.',
    }),
    contactId: t.exposeID('contactId', { nullable: true, description: 'The contact it goes to, in a campaign.' }),
    answer: t.exposeString('answer', {
      nullable: true,
      description: "The server's last answer, or why there was none.",
    }),
    scheduledAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was asked to go out; null for at once.',
      select: content,
      resolve: ({ content }) => content?.scheduledAt ?? null,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was taken.' }),
    recipients: t.field({
      type: [EmailRecipient],
      description: 'Every address it goes to.',
      resolve: async ({ id }, _args, context) => (await loadCopies(context, id)) ?? [],
    }),
    events: t.field({
      type: [EmailEvent],
      description: 'What has happened to it, first thing first.',
      resolve: async ({ id }, _args, context) => {
        const message = (await loadCopies(context, id))?.find((copy) => copy.id === id);
        return message === undefined ? [] : timelineOf(message);
      },
    }),
  }),
});

const listOf = (value: unknown): string[] => (Array.isArray(value) ? (value as string[]) : []);

registerNode('eml', 'Email', (context, ids) =>
  db.message.findMany({ where: { projectId: callerProject(context), id: { in: ids }, copyOf: null } }),
);

builder.queryFields((t) => ({
  inboxUrl: t.string({
    nullable: true,
    description: 'The address of the development inbox; null when mail is really sent.',
    resolve: () => config.INBOX_URL ?? null,
  }),
  email: t.prismaField({
    type: Email,
    description: 'An email of the project; `not_found` when there is none.',
    args: { id: t.arg.id({ required: true, description: 'Message id.' }) },
    resolve: (query, _root, { id }, context) => getEmail(callerProject(context), id, query),
  }),
  emails: t.connection(
    {
      type: Email,
      description: "The project's transactional emails, or the messages of a campaign, newest first.",
      args: {
        status: t.arg({ type: EmailStatus, description: 'Only those that are there.' }),
        to: t.arg.string({ description: 'Only those to this address, without regard to case.' }),
        tag: t.arg.string({ description: 'Only those with this tag.' }),
        campaignId: t.arg.id({ description: 'The messages of this campaign instead of transactional mail.' }),
        createdAfter: t.arg({ type: 'DateTime', description: 'Taken after this instant.' }),
        createdBefore: t.arg({ type: 'DateTime', description: 'Taken before this instant.' }),
      },
      resolve: (_root, { first, after, ...filter }, context, info) =>
        listEmails(callerProject(context), filter, { first, after }, rowsQuery(context, info)),
    },
    ...relayNames('Email'),
  ),
}));

const AttachmentInput = builder.inputType('AttachmentInput', {
  description: 'A file to send along.',
  fields: (t) => ({
    filename: t.string({
      required: true,
      description: 'What it is called; 1 to 255 characters without slashes and control characters.',
      ...jsonSchema({ minLength: 1, maxLength: 255, pattern: '^[^\\u0000-\\u001f\\u007f/\\\\]+$' }),
    }),
    content: t.string({
      required: true,
      description: 'Its bytes in base64.',
      ...jsonSchema({ maxLength: 40 * 1024 * 1024 }),
    }),
    contentType: t.string({ description: 'Its content type; told from the file name when not given.' }),
    contentId: t.string({ description: 'For an inline image: what `cid:` links in the HTML name.' }),
  }),
});

/** What the HTML and the text have at most. */
const BODY = jsonSchema({ maxLength: 5_000_000 });

const SendEmailInput = builder.inputType('SendEmailInput', {
  description: 'A transactional email.',
  fields: (t) => ({
    from: t.string({
      required: true,
      description: 'The sender, at a domain of the project that is verified for sending.',
    }),
    to: t.field({
      type: 'AddressList',
      required: true,
      description: 'Recipients; at most 50 together with cc and bcc.',
    }),
    cc: t.field({ type: 'AddressList', description: 'Recipients of a copy.' }),
    bcc: t.field({ type: 'AddressList', description: 'Recipients of a blind copy.' }),
    replyTo: t.field({ type: 'AddressList', description: 'Reply-to addresses.' }),
    subject: t.string({
      description: "At most 998 characters; the template's when not given.",
      ...jsonSchema({ maxLength: 998 }),
    }),
    html: t.string({
      description: 'The HTML body: at most 5,000,000 characters and 50,000 elements, nested at most 200 deep.',
      ...BODY,
    }),
    text: t.string({ description: 'The text body; made from the HTML when not given.', ...BODY }),
    templateId: t.string({ description: 'A published template whose body is the HTML.' }),
    variables: t.field({
      type: 'JSON',
      description: 'An object of values for placeholders such as `{{name|there}}`.',
      ...JSON_OBJECT,
    }),
    headers: t.field({ type: 'JSON', description: 'An object of further headers.', ...JSON_OBJECT }),
    attachments: t.field({ type: [AttachmentInput], description: 'Files to send along.' }),
    tags: t.stringList({ description: 'At most 20 words to find it by.', ...jsonSchema({ maxItems: 20 }) }),
    metadata: t.field({ type: 'JSON', description: 'An object that is echoed in its events.', ...JSON_OBJECT }),
    trackOpens: t.boolean({ description: "Whether opens are tracked; the project's setting by default." }),
    trackClicks: t.boolean({ description: "Whether clicks are tracked; the project's setting by default." }),
    scheduledAt: t.field({ type: 'DateTime', description: 'When it is to go out; at once when not given.' }),
  }),
});

const SendEmailsInput = builder.inputType('SendEmailsInput', {
  description: 'Several transactional emails.',
  fields: (t) => ({
    emails: t.field({
      type: [SendEmailInput],
      required: true,
      description: '1 to 100 emails; all are taken, or none.',
      ...jsonSchema({ minItems: 1, maxItems: 100 }),
    }),
  }),
});

const RescheduleEmailInput = builder.inputType('RescheduleEmailInput', {
  description: 'Another time for a scheduled email.',
  fields: (t) => ({
    scheduledAt: t.field({ type: 'DateTime', required: true, description: 'When it is to go out.' }),
  }),
});

const loadEmails = batchLoader(async (context: Context, ids) => {
  const where = { projectId: callerProject(context), id: { in: [...ids] } };
  return new Map((await db.message.findMany({ where })).map((message) => [message.id, message]));
});

const QueuedEmail = builder.objectRef<QueuedEmail>('QueuedEmail').implement({
  description: 'An email that has been taken.',
  fields: (t) => ({
    messageId: t.exposeID('id', { description: 'Message id.' }),
    email: t.field({
      type: Email,
      nullable: true,
      authScopes: { read: true },
      description: 'The email, as it is now. A sending key may not ask for it.',
      resolve: ({ id }, _args, context) => loadEmails(context, id),
    }),
    id: t.exposeID('id', { description: 'Message id.', deprecationReason: 'Use QueuedEmail.messageId.' }),
    status: t.expose('status', {
      type: EmailStatus,
      description: '`queued`; `scheduled` when it has a time; `suppressed` when no address of it may be mailed.',
    }),
  }),
});

const idArg = 'Message id.';

builder.mutationFields((t) => ({
  sendEmail: t.field({
    type: QueuedEmail,
    description: 'Sends a transactional email. It is kept before the answer.',
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
    description: 'Stops what has not gone out of an email; `conflict` when nothing of it waits.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: async (query, _root, { id }, context) => {
      await cancelEmail(callerProject(context), id);
      return getEmail(callerProject(context), id, query);
    },
  }),
  rescheduleEmail: t.prismaField({
    type: Email,
    description: 'Moves a scheduled email to another time; `conflict` when its time has come.',
    args: {
      id: t.arg.id({ required: true, description: idArg }),
      input: t.arg({ type: RescheduleEmailInput, required: true, description: 'The time.' }),
    },
    resolve: async (query, _root, { id, input }, context) => {
      await rescheduleEmail(callerProject(context), id, input.scheduledAt);
      return getEmail(callerProject(context), id, query);
    },
  }),
}));
