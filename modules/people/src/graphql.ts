import { actorName } from '@postroom/projects';
import '@postroom/projects/graphql';
import {
  authenticated,
  builder,
  callerProject,
  type Context,
  db,
  DomainError,
  notFound,
  readPage,
  rowsQuery,
  relayNames,
} from '@postroom/platform';
import { acceptInvitation, invite, listInvitations, withdrawInvitation } from './invitations.ts';
import { changeRole, listMembers, removeMember } from './members.ts';
import { createOwnProject } from './own-projects.ts';
import { Person } from './person.ts';
import { renameUser } from './users.ts';

const Role = builder.enumType('Role', {
  description: 'What a person may do in a project.',
  values: {
    owner: { description: 'Everything, owners included.' },
    admin: { description: 'Everything but owners: keys, domains, secrets, members.' },
    member: { description: 'What a full-scope key can do.' },
    viewer: { description: 'Looking.' },
  },
});

const User = builder.prismaObject('User', {
  description: 'A person who signs in.',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'User id.' }),
    name: t.exposeString('name', { description: 'What people call them.' }),
    email: t.expose('email', { type: 'EmailAddress', description: 'The address they sign in with.' }),
    twoFactorEnabled: t.boolean({
      description: 'Whether signing in takes a second factor.',
      select: { twoFactorEnabled: true },
      resolve: (user) => user.twoFactorEnabled === true,
    }),
  }),
});

const Session = builder.prismaObject('Session', {
  description: 'A browser that is signed in.',
  select: { id: true, expiresAt: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Session id.' }),
    ipAddress: t.exposeString('ipAddress', { nullable: true, description: 'Where it signed in from.' }),
    userAgent: t.exposeString('userAgent', { nullable: true, description: 'What it says it is.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it signed in.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it ends unless it is used.' }),
    current: t.boolean({
      description: 'Whether it is the one that asks.',
      resolve: (session, _args, context) => person(context).sessionId === session.id,
    }),
  }),
});

const Member = builder.prismaObject('Member', {
  description: 'A person in a project.',
  fields: (t) => ({
    user: t.relation('user', { description: 'The person.' }),
    role: t.expose('role', { type: Role, description: 'What they may do.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Since when.' }),
  }),
});

const Membership = builder.prismaObject('Member', {
  variant: 'Membership',
  description: 'A project that a person is in.',
  fields: (t) => ({
    project: t.relation('project', { description: 'The project.' }),
    role: t.expose('role', { type: Role, description: 'What they may do in it.' }),
  }),
});

const Invitation = builder.prismaObject('Invitation', {
  description: 'A place in a project that waits for a person.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Invitation id.' }),
    email: t.expose('email', { type: 'EmailAddress', description: 'Who is invited.' }),
    role: t.expose('role', { type: Role, description: 'What they will be.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was sent.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'Until when it can be accepted.' }),
  }),
});

const AuditEntry = builder.prismaObject('AuditEntry', {
  description: 'Who changed what, and when.',
  select: { id: true, actorId: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Entry id.' }),
    actorId: t.exposeID('actorId', { description: '`usr_…` or `key_…`.' }),
    actorName: t.string({
      nullable: true,
      description: 'What the person or the key is called now; null when they are gone.',
      resolve: ({ actorId }) => actorName(actorId),
    }),
    action: t.exposeString('action', { description: 'What was done, as the mutation is called.' }),
    targetId: t.exposeID('targetId', { nullable: true, description: 'What it was done to.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When.' }),
  }),
});

/** The signed-in person; fields about oneself are closed to keys. */
function person(context: Context): Person {
  const caller = authenticated(context);
  if (caller instanceof Person) return caller;
  throw new DomainError('forbidden', 'Only people who are signed in may ask this, never an API key.');
}

const asOwner = (context: Context) => authenticated(context).may('own');

builder.queryFields((t) => ({
  me: t.prismaField({
    type: User,
    skipTypeScopes: true,
    description: 'The person who is signed in.',
    resolve: (query, _root, _args, context) =>
      db.user.findUniqueOrThrow({ ...query, where: { id: person(context).id } }),
  }),
  myProjects: t.prismaField({
    type: [Membership],
    skipTypeScopes: true,
    description: 'The projects of the person who is signed in, and their role in each.',
    resolve: (query, _root, _args, context) =>
      db.member.findMany({ ...query, where: { userId: person(context).id }, orderBy: { createdAt: 'asc' } }),
  }),
  mySessions: t.prismaField({
    type: [Session],
    skipTypeScopes: true,
    description: 'Where the person is signed in, newest first.',
    resolve: (query, _root, _args, context) =>
      db.session.findMany({
        ...query,
        where: { userId: person(context).id, expiresAt: { gt: new Date() } },
        orderBy: { createdAt: 'desc' },
      }),
  }),
  members: t.field({
    type: [Member],
    description: 'The people of the project.',
    resolve: (_root, _args, context) => listMembers(callerProject(context)),
  }),
  invitations: t.field({
    type: [Invitation],
    authScopes: { manage: true },
    description: 'The invitations that wait, newest first.',
    resolve: (_root, _args, context) => listInvitations(callerProject(context)),
  }),
  auditLog: t.connection(
    {
      type: AuditEntry,
      authScopes: { manage: true },
      description: 'What people and keys changed in the project, newest first.',
      resolve: (_root, args, context, info) =>
        readPage('aud', args, ({ limit, before }) =>
          db.auditEntry.findMany({
            ...rowsQuery(context, info),
            where: { projectId: callerProject(context), ...(before === undefined ? {} : { id: { lt: before } }) },
            orderBy: { id: 'desc' },
            take: limit,
          }),
        ),
    },
    ...relayNames('AuditEntry'),
  ),
}));

const InviteInput = builder.inputType('InviteInput', {
  description: 'Whom to invite, as what.',
  fields: (t) => ({
    email: t.string({ required: true, description: 'Where the invitation goes; only this address can accept it.' }),
    role: t.field({ type: Role, required: true, description: 'What they will be.' }),
  }),
});

const AcceptInvitationInput = builder.inputType('AcceptInvitationInput', {
  description: 'An invitation and, for a person without an account, who they are.',
  fields: (t) => ({
    token: t.string({ required: true, description: 'What the link holds.' }),
    name: t.string({ description: 'What people call them.' }),
    password: t.string({ description: 'At least 10 characters.' }),
  }),
});

const InvitePayload = builder.objectRef<{ id: string }>('InvitePayload').implement({
  description: 'An invitation that was sent.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Invitation id.' }),
    url: t.string({
      nullable: true,
      description: 'Always null.',
      deprecationReason:
        'Nothing replaces it: the link is only in the mail, since whoever has it can create the account.',
      resolve: () => null,
    }),
  }),
});

const userId = { required: true, description: 'User id.' } as const;

builder.mutationFields((t) => ({
  invite: t.field({
    type: InvitePayload,
    authScopes: { manage: true },
    description:
      'Invites a person to the project, by mail; the link is in the mail only. `conflict` when the installation can not send mail.',
    args: { input: t.arg({ type: InviteInput, required: true, description: 'Whom.' }) },
    resolve: async (_root, { input }, context) => {
      const { id } = await invite(callerProject(context), {
        ...input,
        invitedById: person(context).id,
        asOwner: asOwner(context),
      });
      return { id };
    },
  }),
  withdrawInvitation: t.field({
    type: 'Boolean',
    authScopes: { manage: true },
    description: 'Takes an invitation back; true when it is gone.',
    args: { id: t.arg.id({ required: true, description: 'Invitation id.' }) },
    resolve: async (_root, { id }, context) => {
      await withdrawInvitation(callerProject(context), id);
      return true;
    },
  }),
  acceptInvitation: t.field({
    type: 'ID',
    skipTypeScopes: true,
    description: 'Accepts an invitation, signed in or with a name and a password; returns the project id.',
    args: { input: t.arg({ type: AcceptInvitationInput, required: true, description: 'The invitation.' }) },
    resolve: async (_root, { input }, { caller }) => {
      const { projectId } = await acceptInvitation({
        ...input,
        userId: caller?.kind === 'person' ? caller.id : undefined,
      });
      return projectId;
    },
  }),
  changeRole: t.field({
    type: 'Boolean',
    authScopes: { manage: true },
    description:
      'Gives a member another role; true when it is so. Keys that they created and invitations that they sent end with the right to manage the project.',
    args: {
      userId: t.arg.id(userId),
      role: t.arg({ type: Role, required: true, description: 'The new role.' }),
    },
    resolve: async (_root, args, context) => {
      const actorId = person(context).id;
      await changeRole(callerProject(context), args.userId, args.role, { asOwner: asOwner(context), actorId });
      return true;
    },
  }),
  removeMember: t.field({
    type: 'Boolean',
    authScopes: { manage: true },
    description:
      'Takes a person out of the project; true when they are. Keys that they created for it and invitations that they sent end.',
    args: { userId: t.arg.id(userId) },
    resolve: async (_root, args, context) => {
      const actorId = person(context).id;
      await removeMember(callerProject(context), args.userId, { asOwner: asOwner(context), actorId });
      return true;
    },
  }),
  createProject: t.prismaField({
    type: 'Project',
    skipTypeScopes: true,
    description: 'Creates a project that the person owns; for owners of one.',
    args: { name: t.arg.string({ required: true, description: '1 to 200 characters.' }) },
    resolve: async (query, _root, { name }, context) => {
      const { id } = await createOwnProject(person(context).id, name);
      return db.project.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  renameMe: t.prismaField({
    type: User,
    skipTypeScopes: true,
    description: 'Changes what people call the person who is signed in.',
    args: { name: t.arg.string({ required: true, description: '1 to 200 characters.' }) },
    resolve: async (query, _root, { name }, context) => {
      await renameUser(person(context).id, name);
      return db.user.findUniqueOrThrow({ ...query, where: { id: person(context).id } });
    },
  }),
  revokeSession: t.field({
    type: 'Boolean',
    skipTypeScopes: true,
    description: 'Signs one of the own sessions out, at once.',
    args: { id: t.arg.id({ required: true, description: 'Session id.' }) },
    resolve: async (_root, { id }, context) => {
      const { count } = await db.session.deleteMany({ where: { id, userId: person(context).id } });
      if (count === 0) throw notFound('session');
      return true;
    },
  }),
}));
