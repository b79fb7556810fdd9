import {
  ADDRESS,
  atMost,
  authenticated,
  batchLoader,
  builder,
  callerProject,
  type Context,
  JSON_OBJECT,
  jsonSchema,
  MAX_NAME_LENGTH,
  Node,
  notNull,
  pick,
  registerNode,
  relayNames,
  removalMutation,
  oneLine,
  selectsBelow,
} from '@postroom/platform';
import { type BatchResult, createContactsBatch } from '../contact-batch.ts';
import { listContacts } from '../contact-list.ts';
import type { ContactSort as Sort } from '../contact-order.ts';
import type { OnConflict as Conflict } from '../contact-writes.ts';
import {
  type Contact as ContactRow,
  type ContactSource as Source,
  CONTACT_COLUMNS,
  createContact,
  deleteContact,
  findContacts,
  getContact,
  updateContact,
} from '../contacts.ts';
import { segmentsOf } from '../segments.ts';
import type { SuppressionStatus as Status } from '../suppressions.ts';
import { suppressionActor } from './suppressions.ts';

/**
 * The GraphQL type `Contact`; other modules refer to it and may add fields. It is not a `prismaObject`: reading a contact by
 * Prisma takes eleven times the CPU of our SQL, which reads those of concurrent requests together (`npm run bench -- hot-paths`).
 */
export const Contact = builder.objectRef<ContactRow>('Contact');

export const ContactSource = builder.enumType('ContactSource', {
  description: 'Where a contact came from.',
  values: {
    api: { description: 'Created by an API key.' },
    import: { description: 'Imported from a file.' },
    dashboard: { description: 'Created by a signed-in user.' },
    form: { description: 'Signed up with a form.' },
  } satisfies Record<Source, { description: string }>,
});

const ContactSort = builder.enumType('ContactSort', {
  description: 'An order of contacts. Those without a name are sorted by the local part of their address.',
  values: {
    newest: { description: 'By creation time, the latest first.' },
    oldest: { description: 'By creation time, the earliest first.' },
    email: { description: 'By address, from A to Z.' },
    email_desc: { description: 'By address, from Z to A.' },
    name: { description: 'By name, from A to Z.' },
    name_desc: { description: 'By name, from Z to A.' },
  } satisfies Record<Sort, { description: string }>,
});

const SuppressionStatus = builder.enumType('SuppressionStatus', {
  description: 'Why a contact is not mailed (the strongest reason), or `none` if it can be mailed.',
  values: {
    none: { description: 'It can be mailed.' },
    unsubscribed: { description: 'The contact unsubscribed.' },
    bounced: { description: 'The address does not accept mail.' },
    complained: { description: 'The contact marked a message as spam.' },
    manual: { description: 'The address was suppressed by a user, an API key or an import.' },
  } satisfies Record<Status, { description: string }>,
});

const ContactSegment = builder.objectRef<{ id: string; name: string }>('ContactSegment').implement({
  description: 'A segment that a contact belongs to.',
  fields: (t) => ({
    segmentId: t.exposeID('id', { description: 'Segment id.' }),
    id: t.exposeID('id', { description: 'Segment id.', deprecationReason: 'Use ContactSegment.segmentId.' }),
    name: t.exposeString('name', { description: 'The name of the segment.', ...atMost(MAX_NAME_LENGTH) }),
  }),
});

const loadSegments = batchLoader((context: Context, ids) => segmentsOf(callerProject(context), ids));

builder.objectType(Contact, {
  description: 'A person a project may write to.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Contact id.' }),
    email: t.expose('email', {
      type: 'EmailAddress',
      description: "Unique among the project's contacts, case-insensitive.",
    }),
    name: t.exposeString('name', {
      description: 'The local part of the address if it has no name: see `hasName`.',
      ...atMost(MAX_NAME_LENGTH),
    }),
    hasName: t.exposeBoolean('hasName', {
      description: 'Whether it has a name. Without one, `{{name|there}}` in a template is replaced by its fallback.',
    }),
    source: t.expose('source', { type: ContactSource, description: 'Where it came from.' }),
    segments: t.field({
      type: [ContactSegment],
      description: 'The segments it belongs to now, ordered by name.',
      resolve: ({ id, segments }, _args, context) => segments ?? loadSegments(context, id).then((all) => all ?? []),
    }),
    suppressionStatus: t.expose('suppressionStatus', {
      type: SuppressionStatus,
      description: 'Why it is not mailed; `none` if it can be mailed.',
    }),
    customFields: t.expose('customFields', {
      type: 'JSON',
      description: 'Values by custom-field key.',
      ...JSON_OBJECT,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When its own fields last changed.' }),
  }),
});

registerNode(
  'ctc',
  'Contact',
  async (context, ids) => [...(await findContacts(callerProject(context), ids)).values()],
  'read',
  {
    select: `SELECT ${CONTACT_COLUMNS} FROM contacts c WHERE c.id = ANY ($1::text[]) AND c.project_id = $2`,
    of: (row: ContactRow) => ({
      name: row.email,
      values: pick(row, 'email', 'name', 'suppressionStatus', 'customFields'),
    }),
  },
);

builder.queryFields((t) => ({
  contact: t.field({
    type: Contact,
    description: 'A contact of the project; `not_found` if it does not exist.',
    args: { id: t.arg.id({ required: true, description: 'Contact id.' }) },
    resolve: (_root, { id }, context) => getContact(callerProject(context), id),
  }),
  contacts: t.connection(
    {
      type: Contact,
      description: "The project's contacts that match every filter, newest first unless `sort` says otherwise.",
      args: {
        sort: t.arg({ type: ContactSort, description: 'The order; defaults to `newest`.' }),
        email: t.arg.string({ description: 'The full address, case-insensitive.' }),
        search: t.arg.string({
          description:
            'Part of the address or name, case-insensitive; one or two letters match only the start of a word.',
        }),
        groupId: t.arg.id({ description: 'Members of this group.' }),
        segmentId: t.arg.id({ description: 'Contacts in this segment.' }),
        where: t.arg({ type: 'JSON', description: 'Contacts that match this segment filter, which is not saved.' }),
        suppressed: t.arg.boolean({ description: 'True for suppressed contacts, false for the others.' }),
        source: t.arg({ type: ContactSource, description: 'Where they came from.' }),
        createdAfter: t.arg({ type: 'DateTime', description: 'Added after this instant.' }),
        createdBefore: t.arg({ type: 'DateTime', description: 'Added before this instant.' }),
      },
      resolve: async (_root, { first, after, sort, ...filter }, context, info) => {
        const projectId = callerProject(context);
        const page = await listContacts(projectId, filter, { first, after, sort });
        if (!selectsBelow(info, 'segments')) return page;
        // Now, because a promise for each contact would cost twice as much as the field itself.
        const ids = page.edges.map(({ node }) => node.id);
        const segments = await segmentsOf(projectId, ids);
        for (const { node } of page.edges) node.segments = segments.get(node.id) ?? [];
        return page;
      },
    },
    ...relayNames('Contact'),
  ),
}));

const CreateContactInput = builder.inputType('CreateContactInput', {
  description: 'A new contact.',
  fields: (t) => ({
    email: t.string({
      required: true,
      description: 'The address; surrounding whitespace is removed.',
      ...jsonSchema(ADDRESS),
    }),
    name: t.string({
      description: 'At most 200 characters. Without one, the local part of the address is shown as the name.',
      ...oneLine(),
    }),
    customFields: t.field({
      type: 'JSON',
      description: "Values by key, coerced against the project's custom fields.",
      ...JSON_OBJECT,
    }),
  }),
});

const UpdateContactInput = builder.inputType('UpdateContactInput', {
  description: 'The fields to change; omitted fields stay unchanged.',
  fields: (t) => ({
    name: t.string({
      description: 'A new name. If it is blank, the contact has no name, and the local part of its address is shown.',
      ...oneLine(),
    }),
    email: t.string({
      description: 'A new address; it must not belong to another contact or be suppressed.',
      ...notNull(jsonSchema(ADDRESS)),
    }),
    customFields: t.field({ type: 'JSON', description: 'Replaces all values.', ...notNull(JSON_OBJECT) }),
    subscribed: t.boolean({ description: 'False adds an unsubscribe suppression, true clears it.', ...notNull() }),
    updatedAt: t.field({
      type: 'DateTime',
      description: 'The `updatedAt` this change is based on; `conflict` if the contact was modified since.',
    }),
  }),
});

const CreateContactPayload = builder
  .objectRef<{ contact: ContactRow; created: boolean }>('CreateContactPayload')
  .implement({
    description: 'A contact and whether it was created.',
    fields: (t) => ({
      contact: t.field({
        type: Contact,
        description: 'The new or the existing contact.',
        resolve: ({ contact }) => contact,
      }),
      created: t.exposeBoolean('created', {
        description: 'False if the contact already existed; it was not changed.',
      }),
    }),
  });

const BatchContactInput = builder.inputType('BatchContactInput', {
  description: 'One contact of a batch. Problems are reported in its result.',
  fields: (t) => ({
    email: t.string({ description: 'The address.' }),
    name: t.string({
      description: 'At most 200 characters. Without one, the local part of the address is shown as the name.',
    }),
    customFields: t.field({
      type: 'JSON',
      description: "Values by key, coerced against the project's custom fields.",
    }),
  }),
});

export const OnConflict = builder.enumType('OnConflict', {
  description: 'What to do with an existing contact: nothing, or write the name and the custom fields provided.',
  values: {
    skip: { description: 'Leaves the existing contact unchanged.' },
    update: { description: 'Writes the name and the custom fields provided.' },
  } satisfies Record<Conflict, { description: string }>,
});

const CreateContactsBatchInput = builder.inputType('CreateContactsBatchInput', {
  description: 'Many contacts at once.',
  fields: (t) => ({
    contacts: t.field({
      type: [BatchContactInput],
      required: true,
      description: '1 to 1,000 contacts.',
      ...jsonSchema({ minItems: 1, maxItems: 1000 }),
    }),
    onConflict: t.field({ type: OnConflict, description: 'Defaults to `skip`.' }),
  }),
});

const BatchStatus = builder.enumType('BatchContactStatus', {
  description: 'The outcome for a contact of a batch.',
  values: {
    created: { description: 'The contact is new.' },
    updated: { description: 'The contact existed and was changed.' },
    existing: { description: 'The contact existed and was left unchanged.' },
    error: { description: 'The contact was rejected; `error` says why.' },
  },
});

const BatchError = builder.objectRef<{ field: string; message: string }>('BatchContactError').implement({
  description: 'A problem with a contact of a batch.',
  fields: (t) => ({
    field: t.exposeString('field', {
      description: "The field's path in the contact, such as `email` or `customFields.plan`.",
    }),
    message: t.exposeString('message', { description: 'The problem with the field.' }),
  }),
});

/** The contact with an id; undefined if the project has none. Lists read theirs in one statement. */
export const loadContact = batchLoader((context: Context, ids) => findContacts(callerProject(context), ids));

const BatchContactResult = builder.objectRef<BatchResult>('BatchContactResult').implement({
  description: 'The result for one contact of a batch.',
  fields: (t) => ({
    index: t.exposeInt('index', { description: 'Its index in the request, from 0.' }),
    status: t.expose('status', { type: BatchStatus, description: 'The outcome.' }),
    contactId: t.exposeID('id', { nullable: true, description: 'Contact id; null for an error.' }),
    contact: t.field({
      type: Contact,
      nullable: true,
      description: 'The contact in its current state; null for an error.',
      resolve: ({ id }, _args, context) => (id === undefined ? null : loadContact(context, id)),
    }),
    id: t.exposeID('id', {
      nullable: true,
      description: 'Contact id; null for an error.',
      deprecationReason: 'Use BatchContactResult.contactId.',
    }),
    error: t.expose('error', {
      type: BatchError,
      nullable: true,
      description: 'The problem; null unless the status is error.',
    }),
  }),
});

/** A change of the subscription is its own action in the audit log. */
const auditAction = ({ input }: { input: { subscribed?: boolean | null } }) =>
  input.subscribed == null ? 'updateContact' : input.subscribed ? 'resubscribeContact' : 'unsubscribeContact';

builder.mutationFields((t) => ({
  createContact: t.field({
    type: CreateContactPayload,
    description:
      'Creates a contact, or returns the existing contact with that address. `conflict` when a new address is suppressed.',
    args: { input: t.arg({ type: CreateContactInput, required: true, description: 'The contact.' }) },
    resolve: (_root, { input }, context) =>
      createContact(callerProject(context), input, authenticated(context).kind === 'person' ? 'dashboard' : 'api'),
  }),
  createContacts: t.field({
    type: [BatchContactResult],
    description: 'Creates up to 1,000 contacts; an invalid one does not block the others.',
    args: { input: t.arg({ type: CreateContactsBatchInput, required: true, description: 'The contacts.' }) },
    resolve: (_root, { input: { contacts, onConflict } }, context) =>
      createContactsBatch(callerProject(context), contacts, { onConflict }),
  }),
  updateContact: t.field({
    type: Contact,
    extensions: { action: auditAction },
    description: 'Changes the fields provided. `conflict` when the new address is taken or suppressed.',
    args: {
      id: t.arg.id({ required: true, description: 'Contact id.' }),
      input: t.arg({ type: UpdateContactInput, required: true, description: 'What to change.' }),
    },
    resolve: (_root, { id, input }, context) =>
      updateContact(callerProject(context), id, input, suppressionActor(context)),
  }),
}));

removalMutation('contactDelete', {
  replaces: 'deleteContact',
  description: 'Deletes a contact permanently. Suppressions of its address stay.',
  id: 'Contact id.',
  remove: (context, id) => deleteContact(callerProject(context), id),
});
