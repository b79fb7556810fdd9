import { Contact } from '@postroom/contacts/graphql';
import {
  NAME_PART,
  atMost,
  batchLoader,
  builder,
  callerProject,
  type Context,
  db,
  IDS,
  jsonSchema,
  MAX_NAME_LENGTH,
  NAME,
  Node,
  NOT_EMPTY,
  notNull,
  registerNode,
  relayNames,
  removalMutation,
  rowsQuery,
  replacesMutation,
  useInstead,
} from '@postroom/platform';
import {
  type AddedContacts,
  addContacts,
  createGroup,
  deleteGroup,
  getGroup,
  groupsOf,
  listGroups,
  MAX_LISTED,
  type Member as MemberRow,
  membersOf,
  removeContacts,
  updateGroup,
} from './groups.ts';
import { setPublicName } from './opt-outs.ts';

const Member = builder.objectRef<MemberRow>('GroupMember').implement({
  description: 'A member of a group that still exists.',
  fields: (t) => ({
    contactId: t.exposeID('id', { description: 'Contact id.' }),
    id: t.exposeID('id', { description: 'Contact id.', deprecationReason: 'Use GroupMember.contactId.' }),
    email: t.expose('email', { type: 'EmailAddress', description: 'The address.' }),
    name: t.exposeString('name', { description: 'Name of the contact.', ...atMost(MAX_NAME_LENGTH) }),
  }),
});

const loadMembers = batchLoader((context: Context, ids) => membersOf(callerProject(context), ids));

export const Group = builder.prismaObject('Group', {
  interfaces: [Node],
  description: 'A named set of contact ids inside a project. It always has at least one member.',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Group id.' }),
    name: t.exposeString('name', { description: 'Unique within the project.', ...atMost(MAX_NAME_LENGTH) }),
    publicName: t.exposeString('publicName', {
      nullable: true,
      description: 'Name shown to its members on the unsubscribe page; null hides the group there.',
    }),
    leftCount: t.relationCount('optOuts', {
      description: 'Number of members who opted out of its mail.',
    }),
    contactIds: t.stringList({
      description: `Member contact ids, including those of deleted contacts: the first ${MAX_LISTED.toLocaleString('en')} in their order. \`contactCount\` counts all.`,
      ...IDS,
      select: { members: { select: { contactId: true }, orderBy: { contactId: 'asc' }, take: MAX_LISTED } },
      resolve: (group) => group.members.map((member) => member.contactId),
    }),
    contactCount: t.relationCount('members', { description: 'Number of member ids.' }),
    memberCount: t.relationCount('members', { description: 'Number of member ids stored on the group.' }),
    contacts: t.field({
      type: [Member],
      description: `Members that still exist, of the first ${MAX_LISTED.toLocaleString('en')} ids; \`contacts(groupId:)\` lists all.`,
      resolve: async ({ id }, _args, context) => (await loadMembers(context, id)) ?? [],
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When its name last changed.' }),
  }),
});

registerNode(
  'grp',
  'Group',
  (context, ids) => db.group.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
  'read',
  {
    select: `SELECT id, name, public_name AS "publicName" FROM groups WHERE id = ANY ($1::text[]) AND project_id = $2`,
  },
);

const ContactGroup = builder.objectRef<{ id: string; name: string }>('ContactGroup').implement({
  description: 'A group that a contact is in.',
  fields: (t) => ({
    groupId: t.exposeID('id', { description: 'Group id.' }),
    id: t.exposeID('id', { description: 'Group id.', deprecationReason: 'Use ContactGroup.groupId.' }),
    name: t.exposeString('name', { description: 'Name of the group.' }),
  }),
});

const loadGroups = batchLoader((context: Context, ids) => groupsOf(callerProject(context), ids));

builder.objectField(Contact, 'groups', (t) =>
  t.field({
    type: [ContactGroup],
    description: 'The groups it is in, ordered by name.',
    resolve: async ({ id }, _args, context) => (await loadGroups(context, id)) ?? [],
  }),
);

builder.queryFields((t) => ({
  group: t.prismaField({
    type: Group,
    description: 'A group of the project; `not_found` if it does not exist.',
    args: { id: t.arg.id({ required: true, description: 'Group id.' }) },
    resolve: (query, _root, { id }, context) => getGroup(callerProject(context), id, query),
  }),
  groups: t.connection(
    {
      type: Group,
      description: "The project's groups, newest first.",
      args: {
        contactId: t.arg.id({ description: 'Contact id: only the groups that this contact is in.' }),
        search: t.arg.string(NAME_PART),
      },
      resolve: (_root, args, context, info) => listGroups(callerProject(context), args, rowsQuery(context, info)),
    },
    ...relayNames('Group'),
  ),
}));

const CreateGroupInput = builder.inputType('CreateGroupInput', {
  description: 'A new group. At least one of the ids or addresses must be an existing contact.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Unique within the project; 1 to 200 characters.', ...NAME }),
    contactIds: t.stringList({ description: 'Contact ids; ids of contacts that do not exist are ignored.' }),
    emails: t.stringList({ description: 'Addresses, matched to existing contacts without regard to case.' }),
  }),
});

const UpdateGroupInput = builder.inputType('UpdateGroupInput', {
  ...NOT_EMPTY,
  description: 'Fields to update; omitted fields are unchanged.',
  fields: (t) => ({
    name: t.string({ description: 'A new name, unique within the project.', ...notNull(NAME) }),
    contactIds: t.stringList({
      description: 'Replaces the whole member list.',
      ...notNull(jsonSchema({ minItems: 1 })),
    }),
  }),
});

const AddContactsInput = builder.inputType('AddContactsInput', {
  ...NOT_EMPTY,
  description: 'The contacts to add, by id, by address or both.',
  fields: (t) => ({
    contactIds: t.stringList({ description: 'Contact ids; ids of contacts that do not exist are ignored.' }),
    emails: t.stringList({ description: 'Addresses, matched to existing contacts without regard to case.' }),
  }),
});

const AddContactsPayload = builder.objectRef<AddedContacts & { groupId: string }>('AddContactsPayload').implement({
  description: 'Result of adding contacts.',
  fields: (t) => ({
    group: t.prismaField({
      type: Group,
      description: 'The updated group.',
      resolve: (query, { groupId }) => db.group.findUniqueOrThrow({ ...query, where: { id: groupId } }),
    }),
    matched: t.exposeInt('matched', { description: 'Number of the given contacts that exist.' }),
    added: t.exposeInt('added', { description: 'Number of them that were not members.' }),
    unknownEmails: t.exposeStringList('unknownEmails', { description: 'The given addresses that no contact has.' }),
  }),
});

const RemoveContactsPayload = builder
  .objectRef<{ groupId: string; removed: number }>('GroupRemoveContactsPayload')
  .implement({
    description: 'Result of `groupRemoveContacts`.',
    fields: (t) => ({
      group: t.prismaField({
        type: Group,
        description: 'The updated group.',
        resolve: (query, { groupId }) => db.group.findUniqueOrThrow({ ...query, where: { id: groupId } }),
      }),
      removed: t.exposeInt('removed', { description: 'Number of contacts that were removed.' }),
    }),
  });

builder.mutationFields((t) => ({
  createGroup: t.prismaField({
    type: Group,
    description: 'Creates a group; `conflict` if the name is taken.',
    args: { input: t.arg({ type: CreateGroupInput, required: true, description: 'The group.' }) },
    resolve: async (query, _root, { input }, context) => {
      const { id } = await createGroup(callerProject(context), input);
      return db.group.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  updateGroup: t.prismaField({
    type: Group,
    description: 'Renames a group or replaces its members.',
    args: {
      id: t.arg.id({ required: true, description: 'Group id.' }),
      input: t.arg({ type: UpdateGroupInput, required: true, description: 'What to change.' }),
    },
    resolve: async (query, _root, { id, input }, context) => {
      await updateGroup(callerProject(context), id, input);
      return db.group.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  setGroupPublicName: t.prismaField({
    type: Group,
    description:
      'Shows a group to its members on the page behind the link to unsubscribe, where they may leave it and come back.',
    args: {
      id: t.arg.id({ required: true, description: 'Group id.' }),
      publicName: t.arg.string({ description: 'Public name, 1 to 200 characters; null hides the group.' }),
    },
    resolve: async (query, _root, { id, publicName }, context) => {
      await setPublicName(callerProject(context), id, publicName ?? null);
      return db.group.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  addContactsToGroup: t.field({
    type: AddContactsPayload,
    description: 'Adds contacts; those already in the group are not duplicated.',
    args: {
      id: t.arg.id({ required: true, description: 'Group id.' }),
      input: t.arg({ type: AddContactsInput, required: true, description: 'The contacts.' }),
    },
    resolve: async (_root, { id, input }, context) => ({
      groupId: id,
      ...(await addContacts(callerProject(context), id, input)),
    }),
  }),
  groupRemoveContacts: t.field({
    type: RemoveContactsPayload,
    ...replacesMutation('removeContactsFromGroup'),
    description: 'Removes contacts from a group, which must keep at least one member.',
    args: {
      id: t.arg.id({ required: true, description: 'Group id.' }),
      contactIds: t.arg.idList({ required: true, description: 'Contact ids; those that are not members are ignored.' }),
    },
    resolve: async (_root, { id, contactIds }, context) => ({
      groupId: id,
      removed: await removeContacts(callerProject(context), id, contactIds),
    }),
  }),
  removeContactsFromGroup: t.field({
    type: 'Int',
    deprecationReason: useInstead('groupRemoveContacts'),
    description: 'Removes contacts from a group, which must keep at least one member; returns the number removed.',
    args: {
      id: t.arg.id({ required: true, description: 'Group id.' }),
      contactIds: t.arg.idList({ required: true, description: 'Contact ids; those that are not members are ignored.' }),
    },
    resolve: (_root, { id, contactIds }, context) => removeContacts(callerProject(context), id, contactIds),
  }),
}));

removalMutation('groupDelete', {
  replaces: 'deleteGroup',
  description: 'Deletes a group and keeps its contacts.',
  id: 'Group id.',
  remove: (context, id) => deleteGroup(callerProject(context), id),
});
