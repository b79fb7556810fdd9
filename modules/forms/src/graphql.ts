import { Contact, loadContact } from '@postroom/contacts/graphql';
import { EDITED_BY } from '@postroom/projects';
import {
  NAME_PART,
  ADDRESS,
  atMost,
  authenticated,
  batchLoader,
  builder,
  callerProject,
  config,
  type Context,
  db,
  displayName,
  IDS,
  jsonSchema,
  JSON_OBJECT,
  listOf,
  MAX_EMAIL_LENGTH,
  MAX_MAILBOX_LENGTH,
  MAX_NAME_LENGTH,
  NAME,
  Node,
  NOT_EMPTY,
  notNull,
  oneLine,
  pool,
  registerNode,
  removalMutation,
  relayNames,
  rowsQuery,
  type InputFields,
} from '@postroom/platform';
import { MAX_SUBJECT_LENGTH } from '@postroom/templating';
import {
  type FormField as FieldRow,
  MAX_FIELD_KEY_LENGTH,
  MAX_FORM_FIELDS,
  MAX_FORM_GROUPS,
  MAX_FORM_TEXT_LENGTH,
  MAX_FORM_URL_LENGTH,
  MAX_ORIGINS,
  MAX_REMINDER_HOURS,
} from './check-form.ts';
import {
  countSubmissions,
  createForm,
  deleteForm,
  findForms,
  findSubmissions,
  getForm,
  listForms,
  listSubmissions,
  shownFields,
  statusOf,
  type SubmissionCounts,
  type SubmissionStatus,
  updateForm,
} from './forms.ts';
import { blockedAddresses } from './confirm.ts';
import { FORM_ID, SUBMISSION_ID } from './ids.ts';
import { embedHtml } from './page.ts';

const TEXT = atMost(MAX_FORM_TEXT_LENGTH);
const URL_TEXT = atMost(MAX_FORM_URL_LENGTH);
const KEY = atMost(MAX_FIELD_KEY_LENGTH);
/** A /48 in hexadecimal, or a /24. */
const NETWORK = atMost(24);

const urlOf = (id: string) => `${config.PUBLIC_URL}/f/${id}`;

const FormField = builder.objectRef<FieldRow>('FormField').implement({
  description: 'A field of a form, besides the address.',
  fields: (t) => ({
    key: t.exposeString('key', { description: '`name`, or `custom_fields.` and the key of a custom field.', ...KEY }),
    label: t.exposeString('label', {
      nullable: true,
      description: 'The label; null for `Name` or the label of the custom field.',
      ...atMost(MAX_NAME_LENGTH),
    }),
    required: t.exposeBoolean('required', { description: 'Whether it is required.' }),
  }),
});

const Counts = builder.objectRef<SubmissionCounts>('FormSubmissionCounts').implement({
  description: 'The number of submissions of a form, by state.',
  fields: (t) => ({
    pending: t.exposeInt('pending', { description: 'Those that are `pending`.' }),
    blocked: t.exposeInt('blocked', { description: 'Those that are `blocked`.' }),
    confirmed: t.exposeInt('confirmed', { description: 'Those that are `confirmed`.' }),
  }),
});

const loadCounts = batchLoader((context: Context, ids: readonly string[]) =>
  countSubmissions(callerProject(context), ids),
);

const Form = builder.prismaObject('Form', {
  interfaces: [Node],
  description: 'A form with which people can subscribe.',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Form id.' }),
    name: t.exposeString('name', { description: 'Unique within the project.', ...atMost(MAX_NAME_LENGTH) }),
    title: t.exposeString('title', { description: 'The heading of its page.', ...atMost(MAX_NAME_LENGTH) }),
    description: t.exposeString('description', { nullable: true, description: 'Text above the fields.', ...TEXT }),
    groupIds: t.exposeStringList('groupIds', { description: 'The groups that subscribers join.', ...IDS }),
    fields: t.field({
      type: [FormField],
      description: 'Its fields besides the address, in order.',
      complexity: { field: 1, multiplier: 1 }, // most forms have a few
      select: { fields: true },
      resolve: ({ fields }) => fields as unknown as FieldRow[],
    }),
    consentText: t.exposeString('consentText', {
      nullable: true,
      description: 'The consent text, which subscribers accept with a checkbox.',
      ...TEXT,
    }),
    doubleOptIn: t.exposeBoolean('doubleOptIn', {
      description: 'Whether subscribers confirm their address with a link in an email.',
    }),
    from: t.exposeString('from', {
      nullable: true,
      description: 'The sender of that email.',
      ...atMost(MAX_MAILBOX_LENGTH),
    }),
    replyTo: t.exposeString('replyTo', {
      nullable: true,
      description: 'Where replies to it go.',
      ...atMost(MAX_MAILBOX_LENGTH),
    }),
    subject: t.exposeString('subject', {
      nullable: true,
      description: "Its subject; null for the template's or the default.",
      ...atMost(MAX_SUBJECT_LENGTH),
    }),
    templateId: t.exposeID('templateId', { nullable: true, description: 'Its template; null for the default text.' }),
    reminderAfterHours: t.exposeInt('reminderAfterHours', {
      nullable: true,
      description: 'Hours after which the email is sent again if the address is not confirmed; null for never.',
    }),
    submittedUrl: t.exposeString('submittedUrl', {
      nullable: true,
      description: "The page that browsers are sent to after submission; null for Postroom's own.",
      ...URL_TEXT,
    }),
    confirmedUrl: t.exposeString('confirmedUrl', {
      nullable: true,
      description: "The page that browsers are sent to after confirmation; null for Postroom's own.",
      ...URL_TEXT,
    }),
    allowedOrigins: t.exposeStringList('allowedOrigins', {
      description: 'The origins of sites that may submit it from their own pages.',
      ...listOf({ maxLength: MAX_FORM_URL_LENGTH }),
    }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether it accepts submissions.' }),
    url: t.string({
      description: 'Its page.',
      ...URL_TEXT,
      resolve: ({ id }) => urlOf(id),
    }),
    embedHtml: t.string({
      description: 'HTML to paste into a page of another site.',
      select: { projectId: true, fields: true, consentText: true },
      resolve: async (form) => embedHtml(form, await shownFields(form), urlOf(form.id)),
    }),
    submissionCounts: t.field({
      type: Counts,
      description: 'Its submissions, without those that retention has deleted.',
      complexity: 100,
      resolve: async ({ id }, _args, context) => (await loadCounts(context, id)) as SubmissionCounts,
    }),
    version: t.exposeInt('version', { description: 'The number of edits; pass it to `updateForm`.' }),
    editedById: t.exposeID('editedById', EDITED_BY.id),
    editedByName: t.string({ ...EDITED_BY.name, select: { editedById: true } }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
  }),
});

registerNode(FORM_ID, 'Form', (context, ids) => findForms(callerProject(context), ids), 'read', {
  select: `SELECT id, name, title, description, group_ids AS "groupIds", fields, consent_text AS "consentText",
      double_opt_in AS "doubleOptIn", "from", reply_to AS "replyTo", subject, template_id AS "templateId",
      reminder_after_hours AS "reminderAfterHours", submitted_url AS "submittedUrl", confirmed_url AS "confirmedUrl",
      allowed_origins AS "allowedOrigins", enabled
    FROM forms WHERE id = ANY ($1::text[]) AND project_id = $2`,
});

const Status = builder.enumType('FormSubmissionStatus', {
  description: 'The state of a submission.',
  values: {
    pending: { description: 'It is waiting for confirmation.' },
    blocked: {
      description:
        'It is not confirmed, cannot be, and gets no email: the address bounced, complained or was suppressed by the project.',
    },
    confirmed: { description: 'It was confirmed, or needed no confirmation.' },
    expired: { description: 'It was not confirmed in time. It will be deleted.' },
  } satisfies Record<SubmissionStatus, { description: string }>,
});

const loadBlocked = batchLoader((context: Context, keys: readonly string[]) =>
  blockedAddresses(pool, callerProject(context), keys),
);

const loadIsBlocked = async (
  context: Context,
  { confirmedAt, emailKey }: { confirmedAt: Date | null; emailKey: string },
): Promise<boolean> => confirmedAt === null && ((await loadBlocked(context, emailKey)) ?? false);

const Submission = builder.prismaObject('FormSubmission', {
  interfaces: [Node],
  description: 'A submission of a form; once confirmed, it is the record of consent.',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Submission id.' }),
    formId: t.exposeID('formId', { description: 'The form.' }),
    email: t.exposeString('email', { description: 'The address.', ...atMost(MAX_EMAIL_LENGTH) }),
    name: t.exposeString('name', {
      nullable: true,
      description: 'The name that was entered.',
      ...atMost(MAX_NAME_LENGTH),
    }),
    customFields: t.expose('customFields', {
      type: 'JSON',
      description: 'The values of custom fields that were entered.',
      ...JSON_OBJECT,
    }),
    status: t.field({
      type: Status,
      description: 'Its state.',
      select: { confirmedAt: true, expiresAt: true, emailKey: true },
      resolve: async (row, _args, context) => statusOf(row, await loadIsBlocked(context, row)),
    }),
    blocked: t.boolean({
      description:
        'Whether it cannot be confirmed, and gets no email, because the address bounced, complained or was suppressed by the project. False once it is confirmed.',
      select: { confirmedAt: true, emailKey: true },
      resolve: (row, _args, context) => loadIsBlocked(context, row),
    }),
    consentText: t.exposeString('consentText', {
      nullable: true,
      description: 'The text that the person agreed to, as it was then.',
      ...TEXT,
    }),
    submittedAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was first submitted.' }),
    submittedFrom: t.exposeString('submittedFrom', {
      nullable: true,
      description: 'The network that it came from: a /24, or a /48 of IPv6.',
      ...NETWORK,
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the link to confirm expires.' }),
    confirmedAt: t.expose('confirmedAt', { type: 'DateTime', nullable: true, description: 'When it was confirmed.' }),
    confirmedFrom: t.exposeString('confirmedFrom', {
      nullable: true,
      description: 'The network that the confirmation came from.',
      ...NETWORK,
    }),
    messageId: t.exposeID('messageId', { nullable: true, description: 'The latest email with the link to confirm.' }),
    contactId: t.exposeID('contactId', {
      nullable: true,
      description: 'The contact that it subscribed, which may have been deleted; null before the confirmation.',
    }),
    contact: t.field({
      type: Contact,
      nullable: true,
      description: 'That contact; null if it was deleted.',
      select: { contactId: true },
      resolve: async ({ contactId }, _args, context) =>
        contactId === null ? null : ((await loadContact(context, contactId)) ?? null),
    }),
  }),
});

registerNode(SUBMISSION_ID, 'FormSubmission', (context, ids) => findSubmissions(callerProject(context), ids));

const formId = { required: true, description: 'Form id.' } as const;

builder.queryFields((t) => ({
  form: t.prismaField({
    type: Form,
    description: 'A form of the project; `not_found` if it does not exist.',
    args: { id: t.arg.id(formId) },
    resolve: (query, _root, { id }, context) => getForm(callerProject(context), id, query),
  }),
  forms: t.connection(
    {
      type: Form,
      description: "The project's forms, newest first.",
      args: { search: t.arg.string(NAME_PART) },
      resolve: (_root, args, context, info) => listForms(callerProject(context), args, rowsQuery(context, info)),
    },
    ...relayNames('Form'),
  ),
  formSubmissions: t.connection(
    {
      type: Submission,
      description: 'The submissions of a form, newest first.',
      args: {
        formId: t.arg.id(formId),
        status: t.arg({ type: Status, description: 'Only submissions in this state.' }),
        email: t.arg.string({ description: 'Only submissions of this address.', ...jsonSchema(ADDRESS) }),
      },
      resolve: (_root, args, context, info) => listSubmissions(callerProject(context), args, rowsQuery(context, info)),
    },
    ...relayNames('FormSubmission'),
  ),
}));

const FormFieldInput = builder.inputType('FormFieldInput', {
  description: 'A field of a form.',
  fields: (t) => ({
    key: t.string({
      required: true,
      description: '`name`, or `custom_fields.` and the key of a custom field.',
      ...KEY,
    }),
    label: t.string({ description: '`Name` or the label of the custom field if omitted.', ...oneLine() }),
    required: t.boolean({ description: 'Whether it is required; false if omitted.' }),
  }),
});

/** The settings that creation and updates share. `always` marks those that always have a value. */
const settings = (t: InputFields, always: (options?: object) => object) => ({
  title: t.string({ description: 'The heading of its page.', ...always(NAME) }),
  description: t.string({ description: 'Text above the fields.', ...TEXT }),
  groupIds: t.idList({
    description: 'The groups that subscribers join.',
    ...always(jsonSchema({ maxItems: MAX_FORM_GROUPS })),
  }),
  fields: t.field({
    type: [FormFieldInput],
    description: 'Its fields besides the address, in order.',
    ...always(jsonSchema({ maxItems: MAX_FORM_FIELDS })),
  }),
  consentText: t.string({ description: 'What subscribers must agree to with a checkbox.', ...TEXT }),
  doubleOptIn: t.boolean({
    description: 'Whether subscribers confirm their address with a link in an email; true for a new form.',
    ...always(),
  }),
  from: t.string({
    description: 'The sender of that email, required for double opt-in.',
    ...atMost(MAX_MAILBOX_LENGTH),
  }),
  replyTo: t.string({ description: 'Where replies to it go.', ...atMost(MAX_MAILBOX_LENGTH) }),
  subject: t.string({
    description: "Its subject; the template's or a default one if omitted.",
    ...oneLine(MAX_SUBJECT_LENGTH),
  }),
  templateId: t.id({
    description: 'A published template with a link to `{{confirm_url}}`; a default text if omitted.',
  }),
  reminderAfterHours: t.int({
    description: 'Hours after which the email is sent again if the address is not confirmed.',
    ...jsonSchema({ minimum: 1, maximum: MAX_REMINDER_HOURS }),
  }),
  submittedUrl: t.string({ description: 'Where browsers are sent after submission.', ...URL_TEXT }),
  confirmedUrl: t.string({ description: 'Where browsers are sent after confirmation.', ...URL_TEXT }),
  allowedOrigins: t.stringList({
    description: 'The origins of sites that may submit it from their own pages, such as `https://www.example.com`.',
    ...always(listOf({ maxLength: MAX_FORM_URL_LENGTH }, { maxItems: MAX_ORIGINS })),
  }),
  enabled: t.boolean({ description: 'Whether it accepts submissions; true for a new form.', ...always() }),
});

const CreateFormInput = builder.inputType('CreateFormInput', {
  description: 'A new form.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: 'Unique within the project; 1 to 200 characters.',
      ...jsonSchema(displayName()),
    }),
    ...settings(t, (options = {}) => options),
  }),
});

const UpdateFormInput = builder.inputType('UpdateFormInput', {
  ...NOT_EMPTY,
  description: 'Fields to update; omitted fields are unchanged, and null clears those that may be empty.',
  fields: (t) => ({
    name: t.string({ description: 'A new name, unique within the project.', ...notNull(NAME) }),
    ...settings(t, notNull),
    version: t.int({ description: 'The version that the edit is based on; `conflict` if it is not the current one.' }),
  }),
});

builder.mutationFields((t) => ({
  createForm: t.prismaField({
    type: Form,
    description: 'Creates a form.',
    args: { input: t.arg({ type: CreateFormInput, required: true, description: 'The form.' }) },
    resolve: async (query, _root, { input }, context) => {
      const id = await createForm(callerProject(context), authenticated(context).id, input);
      return db.form.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  updateForm: t.prismaField({
    type: Form,
    description: 'Changes a form. Earlier submissions are confirmed as they were submitted.',
    args: {
      id: t.arg.id(formId),
      input: t.arg({ type: UpdateFormInput, required: true, description: 'The changes.' }),
    },
    resolve: async (query, _root, { id, input }, context) => {
      await updateForm(callerProject(context), authenticated(context).id, id, input);
      return db.form.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
}));

removalMutation('formDelete', {
  description: 'Deletes a form with its submissions, including the records of consent. Subscribed contacts stay.',
  id: 'Form id.',
  remove: (context, id) => deleteForm(callerProject(context), id),
});
