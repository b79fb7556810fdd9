import {
  atMost,
  batchLoader,
  builder,
  callerProject,
  type Context,
  db,
  displayName,
  JSON_OBJECT,
  jsonSchema,
  MAX_ID_LENGTH,
  MAX_MAILBOX_LENGTH,
  MAX_TAG_LENGTH,
} from '@postroom/platform';
import { MAX_SUBJECT_LENGTH } from '@postroom/templating';
import {
  CONTENT_ID,
  MAX_ATTACHMENTS,
  MAX_CONTENT_ID_LENGTH,
  MAX_CONTENT_TYPE_LENGTH,
  MAX_FILENAME_LENGTH,
  MAX_RECIPIENTS,
  MAX_REPLY_TO,
} from '../email-input.ts';
import { cancelEmail, getEmail, type QueuedEmail, rescheduleEmail, sendEmail, sendEmails } from '../emails.ts';
import { BODY, Email, EmailStatus } from './emails.ts';

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
      description:
        'The sender, as `ada@example.com` or `Ada <ada@example.com>`, at a domain of the project that is verified for sending. ASCII before the `@`.',
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
    resolve: (_root, { input }, context) => sendEmail(callerProject(context), input, context.claim),
  }),
  sendEmails: t.field({
    type: [QueuedEmail],
    description: 'Sends up to 100 transactional emails, all or none.',
    args: { input: t.arg({ type: SendEmailsInput, required: true, description: 'The emails.' }) },
    resolve: (_root, { input }, context) => sendEmails(callerProject(context), input.emails, context.claim),
  }),
  cancelEmail: t.prismaField({
    type: Email,
    description:
      'Cancels the messages of an email that are not being sent yet; `recipients` shows which were canceled. `conflict` if none is left.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: async (query, _root, { id }, context) => {
      await cancelEmail(callerProject(context), id);
      return getEmail(callerProject(context), id, query);
    },
  }),
  rescheduleEmail: t.prismaField({
    type: Email,
    description:
      'Reschedules an email for all of its recipients; `conflict` if it is no longer scheduled, or is already being sent to one of them.',
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
