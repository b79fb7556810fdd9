import {
  atMost,
  batchLoader,
  builder,
  callerProject,
  config,
  type Context,
  db,
  JSON_OBJECT,
  jsonSchema,
  MAX_MAILBOX_LENGTH,
  MAX_TAG_LENGTH,
  Node,
  type Prisma,
  registerNode,
  relayNames,
  rowsQuery,
  workflowUrl,
} from '@postroom/platform';
import { EMAIL_STATUSES, statusOf, timelineOf, workflowOf } from '@postroom/ledger';
import { MAX_CONTENT_ID_LENGTH, MAX_CONTENT_TYPE_LENGTH, MAX_FILENAME_LENGTH } from '../email-input.ts';
import { EMAIL_OUTCOMES } from '../email-outcomes.ts';
import { getEmail, listEmails } from '../emails.ts';
import { MAX_TEXT_LENGTH } from '../fill-content.ts';
import { bodyOf } from '../load-bodies.ts';

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

export const BODY = atMost(MAX_TEXT_LENGTH);
const MAILBOXES = jsonSchema({ items: { type: 'string', maxLength: MAX_MAILBOX_LENGTH } });

export const Email = builder.prismaObject('Message', {
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
