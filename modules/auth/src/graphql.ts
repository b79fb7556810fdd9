import '@postroom/projects/graphql';
import {
  audits,
  authenticated,
  builder,
  callerProject,
  type Context,
  db,
  DomainError,
  Node,
  notFound,
  registerNode,
  removalMutation,
  sql,
  replacesMutation,
  type Tx,
  useInstead,
  managersOnly,
} from '@postroom/platform';
import {
  acceptInvitation,
  type InvitationPreview,
  invite,
  listInvitations,
  previewInvitation,
  pendingInvitations,
  withdrawInvitation,
} from './invitations.ts';
import { confirmEmailChange, requestEmailChange } from './email-change.ts';
import { changeRole, listMembers, removeMember } from './members.ts';
import { membershipsInOtherCells, projectIdsOf } from './other-cells.ts';
import { createOwnProject, deleteOwnProject, mayCreateProject } from './own-projects.ts';
import { type EmailChange, findEmailChange } from './pending-email.ts';
import { UserCaller } from './caller.ts';
import { hasPassword, renameUser } from './users.ts';

const Role = builder.enumType('Role', {
  description: 'The role of a user in a project.',
  values: {
    owner: { description: 'Everything, including managing owners.' },
    admin: { description: 'Everything except managing owners: API keys, domains, secrets, members.' },
    member: { description: 'Everything that a full-scope API key can do.' },
    viewer: { description: 'Looking.' },
  },
});

const User = builder.prismaObject('User', {
  interfaces: [Node],
  description: 'A user, who can sign in.',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'User id.' }),
    name: t.exposeString('name', { description: 'Display name.' }),
    email: t.expose('email', { type: 'EmailAddress', description: 'The email address used to sign in.' }),
    twoFactorEnabled: t.boolean({
      description: 'Whether sign-in requires a second factor.',
      select: { twoFactorEnabled: true },
      resolve: (user) => user.twoFactorEnabled === true,
    }),
  }),
});

const Session = builder.prismaObject('Session', {
  interfaces: [Node],
  description: 'A session: a browser that is signed in.',
  select: { id: true, expiresAt: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Session id.' }),
    ipAddress: t.exposeString('ipAddress', { nullable: true, description: 'The client address at sign-in.' }),
    userAgent: t.exposeString('userAgent', { nullable: true, description: "The browser's user agent." }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the session began.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the session expires unless it is used.' }),
    current: t.boolean({
      description: 'Whether it is the session of this request.',
      resolve: (session, _args, context) => person(context).sessionId === session.id,
    }),
  }),
});

const Member = builder.prismaObject('Member', {
  description: 'A member of a project.',
  fields: (t) => ({
    user: t.relation('user', { description: 'The person.' }),
    role: t.expose('role', { type: Role, description: 'What they may do.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Since when.' }),
  }),
});

const Membership = builder.prismaObject('Member', {
  variant: 'Membership',
  description: 'A project that a user is a member of.',
  fields: (t) => ({
    project: t.relation('project', { description: 'The project.' }),
    role: t.expose('role', { type: Role, description: "The user's role in the project." }),
  }),
});

const Invitation = builder.prismaObject('Invitation', {
  interfaces: [Node],
  description: 'A pending invitation to a project.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Invitation id.' }),
    email: t.expose('email', { type: 'EmailAddress', description: 'The invited address.' }),
    role: t.expose('role', { type: Role, description: 'The role that the user will have.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was sent.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the invitation expires.' }),
  }),
});

/** The signed-in user. Fields about the user are closed to API keys. */
function person(context: Context): UserCaller {
  const caller = authenticated(context);
  if (caller instanceof UserCaller) return caller;
  throw new DomainError('forbidden', 'An API key cannot do this. Sign in to the dashboard instead.');
}

const asOwner = (context: Context) => authenticated(context).may('own');

registerNode(
  'usr',
  'User',
  (context, ids) => {
    const { id } = authenticated(context);
    const inProject = { memberships: { some: { projectId: callerProject(context) } } };
    return db.user.findMany({ where: { id: { in: ids }, OR: [{ id }, inProject] } });
  },
  'read',
  {
    select: `SELECT u.id, u.name FROM users u JOIN members m ON m.user_id = u.id
      WHERE u.id = ANY ($1::text[]) AND m.project_id = $2`,
  },
);
registerNode('ses', 'Session', (context, ids) =>
  db.session.findMany({ where: { id: { in: ids }, userId: authenticated(context).id, expiresAt: { gt: new Date() } } }),
);
registerNode(
  'inv',
  'Invitation',
  (context, ids) =>
    db.invitation.findMany({ where: { ...pendingInvitations(callerProject(context)), id: { in: ids } } }),
  'manage',
  {
    select: `SELECT id, email AS name FROM invitations WHERE id = ANY ($1::text[]) AND project_id = $2`,
  },
);

const InvitationPreviewType = builder.objectRef<InvitationPreview>('InvitationPreview').implement({
  description: 'The details of an invitation, shown before it is accepted.',
  fields: (t) => ({
    projectName: t.exposeString('projectName', { description: 'The name of the project.' }),
    email: t.exposeString('email', { description: 'The invited address; only it can accept.' }),
    hasAccount: t.exposeBoolean('hasAccount', { description: 'Whether the address already has an account.' }),
  }),
});

const EmailChangeType = builder.objectRef<EmailChange>('EmailChange').implement({
  description: 'A new email address that waits to be confirmed by the link that was mailed to it.',
  fields: (t) => ({
    email: t.expose('email', { type: 'EmailAddress', description: 'The new address.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the link expires.' }),
  }),
});

builder.queryFields((t) => ({
  invitationPreview: t.field({
    type: InvitationPreviewType,
    skipTypeScopes: true,
    description:
      'The invitation that a link refers to; `not_found` if it is invalid, used or expired. Requires no sign-in.',
    args: { token: t.arg.string({ required: true, description: 'The token from the link.' }) },
    resolve: (_root, { token }) => previewInvitation(token),
  }),
  me: t.prismaField({
    type: User,
    skipTypeScopes: true,
    description: 'The signed-in user.',
    resolve: (query, _root, _args, context) =>
      db.user.findUniqueOrThrow({ ...query, where: { id: person(context).id } }),
  }),
  myProjects: t.prismaField({
    type: [Membership],
    skipTypeScopes: true,
    description: 'The projects of the signed-in user, with the role in each.',
    resolve: async (query, _root, _args, context) => {
      const { id: userId } = person(context);
      const projectId = { in: await projectIdsOf(userId) };
      const here = await db.member.findMany({ ...query, where: { userId, projectId }, orderBy: { createdAt: 'asc' } });
      const elsewhere = await membershipsInOtherCells(userId);
      return [...here.filter((row) => elsewhere.every(({ projectId }) => projectId !== row.projectId)), ...elsewhere];
    },
  }),
  mayCreateProject: t.boolean({
    skipTypeScopes: true,
    description:
      'Whether the signed-in user may create projects: they own one, or owned one until an owner deleted it.',
    resolve: (_root, _args, context) => mayCreateProject(person(context).id),
  }),
  myEmailChange: t.field({
    type: EmailChangeType,
    nullable: true,
    skipTypeScopes: true,
    description: 'The new address that the signed-in user asked for and has not confirmed; null if there is none.',
    resolve: async (_root, _args, context) => (await findEmailChange(person(context).id)) ?? null,
  }),
  hasPassword: t.boolean({
    skipTypeScopes: true,
    description:
      'Whether the signed-in user has a password. Without one they sign in with the provider, which is also responsible for a second factor.',
    resolve: (_root, _args, context) => hasPassword(person(context).id),
  }),
  mySessions: t.prismaField({
    type: [Session],
    skipTypeScopes: true,
    description: "The signed-in user's sessions, newest first.",
    resolve: (query, _root, _args, context) =>
      db.session.findMany({
        ...query,
        where: { userId: person(context).id, expiresAt: { gt: new Date() } },
        orderBy: { createdAt: 'desc' },
      }),
  }),
  members: t.field({
    type: [Member],
    description: 'The members of the project.',
    resolve: (_root, _args, context) => listMembers(callerProject(context)),
  }),
  invitations: t.field({
    type: [Invitation],
    ...managersOnly,
    description: 'The pending invitations, newest first.',
    resolve: (_root, _args, context) => listInvitations(callerProject(context)),
  }),
}));

const InviteInput = builder.inputType('InviteInput', {
  description: 'The address to invite, and the role of the new member.',
  fields: (t) => ({
    email: t.string({ required: true, description: 'The address that the invitation is sent to; only it can accept.' }),
    role: t.field({ type: Role, required: true, description: 'The role that the user will have.' }),
  }),
});

const AcceptInvitationInput = builder.inputType('AcceptInvitationInput', {
  description: 'An invitation to accept and, for a user without an account, a name and a password.',
  fields: (t) => ({
    token: t.string({ required: true, description: "The token from the invitation's link." }),
    name: t.string({ description: 'Display name.' }),
    password: t.string({ description: 'At least 10 characters.' }),
  }),
});

const EmailChangeInput = builder.inputType('EmailChangeInput', {
  description: 'The address to sign in with from now on, and the proof that it is the user who asks.',
  fields: (t) => ({
    email: t.string({ required: true, description: 'The new address. A link that confirms it is sent there.' }),
    password: t.string({
      description: 'The current password. A user without one must have signed in within the last 15 minutes.',
    }),
  }),
});

const EmailChangeRequestPayload = builder
  .objectRef<{ emailChange: EmailChange }>('EmailChangeRequestPayload')
  .implement({
    description: 'What `emailChangeRequest` did.',
    fields: (t) => ({
      emailChange: t.expose('emailChange', { type: EmailChangeType, description: 'The new address.' }),
    }),
  });

const EmailChangeConfirmPayload = builder.objectRef<{ userId: string }>('EmailChangeConfirmPayload').implement({
  description: 'What `emailChangeConfirm` did.',
  fields: (t) => ({
    user: t.prismaField({
      type: User,
      description: 'The user with the new address.',
      resolve: (query, { userId }) => db.user.findUniqueOrThrow({ ...query, where: { id: userId } }),
    }),
  }),
});

const InvitePayload = builder.objectRef<{ id: string }>('InvitePayload').implement({
  description: 'An invitation that was sent.',
  fields: (t) => ({
    invitation: t.prismaField({
      type: Invitation,
      description: 'The invitation.',
      resolve: (query, { id }) => db.invitation.findUniqueOrThrow({ ...query, where: { id } }),
    }),
    id: t.exposeID('id', { description: 'Invitation id.', deprecationReason: 'Use InvitePayload.invitation.' }),
    url: t.string({
      nullable: true,
      description: 'Always null.',
      deprecationReason:
        'Nothing replaces it: the link is only in the email, because anyone who has it can create the account.',
      resolve: () => null,
    }),
  }),
});

const InvitationAcceptPayload = builder
  .objectRef<{ projectId: string; userId: string }>('InvitationAcceptPayload')
  .implement({
    description: 'What `invitationAccept` did.',
    fields: (t) => ({
      project: t.prismaField({
        type: 'Project',
        description: 'The project that the user joined.',
        // It may be in another cell.
        resolve: async (query, { projectId, userId }) => {
          const here = await db.project.findUnique({ ...query, where: { id: projectId } });
          if (here !== null) return here;
          const joined = (await membershipsInOtherCells(userId)).find(
            (membership) => membership.projectId === projectId,
          );
          if (joined === undefined) throw notFound('project');
          return joined.project;
        },
      }),
    }),
  });

const MemberChangeRolePayload = builder
  .objectRef<{ projectId: string; userId: string }>('MemberChangeRolePayload')
  .implement({
    description: 'What `memberChangeRole` did.',
    fields: (t) => ({
      member: t.prismaField({
        type: Member,
        description: 'The updated member.',
        resolve: (query, ids) => db.member.findUniqueOrThrow({ ...query, where: { projectId_userId: ids } }),
      }),
    }),
  });

const MemberRemovePayload = builder.objectRef<{ projectId: string; userId: string }>('MemberRemovePayload').implement({
  description: 'What `memberRemove` did.',
  fields: (t) => ({
    userId: t.exposeID('userId', { description: 'The id of the removed member.' }),
    members: t.field({
      type: [Member],
      description: 'The remaining members.',
      resolve: ({ projectId }) => listMembers(projectId),
    }),
  }),
});

const ProjectDeletePayload = builder.objectRef<{ deletedId: string }>('ProjectDeletePayload').implement({
  description: 'What `projectDelete` did.',
  fields: (t) => ({ deletedId: t.exposeID('deletedId', { description: 'The id of the project.' }) }),
});

const userId = { required: true, description: 'User id.' } as const;

/** The role of the member that a mutation is about. */
async function roleOf(tx: Tx, projectId: string, { userId }: Record<string, unknown>): Promise<{ role?: string }> {
  const [member] = await sql<{ role: string }>(tx, 'SELECT role FROM members WHERE project_id = $1 AND user_id = $2', [
    projectId,
    String(userId),
  ]);
  return member ?? {};
}

builder.mutationFields((t) => ({
  invite: t.field({
    type: InvitePayload,
    ...managersOnly,
    description:
      'Sends an invitation to the project. Its link is only in the email. `conflict` if the installation cannot send email.',
    args: { input: t.arg({ type: InviteInput, required: true, description: 'The invitation.' }) },
    resolve: async (_root, { input }, context) => {
      const { id } = await invite(callerProject(context), {
        ...input,
        invitedById: person(context).id,
        asOwner: asOwner(context),
      });
      return { id };
    },
  }),
  invitationAccept: t.field({
    type: InvitationAcceptPayload,
    skipTypeScopes: true,
    ...replacesMutation('acceptInvitation'),
    description: 'Accepts an invitation, either signed in or with a name and a password for a new account.',
    args: { input: t.arg({ type: AcceptInvitationInput, required: true, description: 'The invitation.' }) },
    resolve: (_root, { input }, { caller }) =>
      acceptInvitation({ ...input, userId: caller?.kind === 'person' ? caller.id : undefined }),
  }),
  acceptInvitation: t.field({
    type: 'ID',
    skipTypeScopes: true,
    deprecationReason: useInstead('invitationAccept'),
    description:
      'Accepts an invitation, either signed in or with a name and a password for a new account. Returns the project id.',
    args: { input: t.arg({ type: AcceptInvitationInput, required: true, description: 'The invitation.' }) },
    resolve: async (_root, { input }, { caller }) => {
      const { projectId } = await acceptInvitation({
        ...input,
        userId: caller?.kind === 'person' ? caller.id : undefined,
      });
      return projectId;
    },
  }),
  memberChangeRole: t.field({
    type: MemberChangeRolePayload,
    ...managersOnly,
    ...audits({ action: 'changeRole', values: roleOf }),
    description: "Changes a member's role.",
    args: {
      userId: t.arg.id(userId),
      role: t.arg({ type: Role, required: true, description: 'The new role.' }),
    },
    resolve: async (_root, { userId, role }, context) => {
      const projectId = callerProject(context);
      await changeRole(projectId, userId, role, { actorId: person(context).id });
      return { projectId, userId };
    },
  }),
  changeRole: t.field({
    type: 'Boolean',
    ...managersOnly,
    ...audits({ values: roleOf }),
    deprecationReason: useInstead('memberChangeRole'),
    description:
      "Changes a member's role. Returns true. If the member can no longer manage the project, the API keys they created and the invitations they sent stop working.",
    args: {
      userId: t.arg.id(userId),
      role: t.arg({ type: Role, required: true, description: 'The new role.' }),
    },
    resolve: async (_root, args, context) => {
      const actorId = person(context).id;
      await changeRole(callerProject(context), args.userId, args.role, { actorId });
      return true;
    },
  }),
  memberRemove: t.field({
    type: MemberRemovePayload,
    skipTypeScopes: true,
    authScopes: (_root, { userId }, { caller }) =>
      caller?.kind === 'person' && caller.id === userId ? { read: true } : { manage: true },
    ...replacesMutation('removeMember'),
    description: 'Removes a member from the project. Owners and admins remove others; every member may leave.',
    args: { userId: t.arg.id(userId) },
    resolve: async (_root, { userId }, context) => {
      const projectId = callerProject(context);
      await removeMember(projectId, userId, { actorId: person(context).id });
      return { projectId, userId };
    },
  }),
  removeMember: t.field({
    type: 'Boolean',
    ...managersOnly,
    deprecationReason: useInstead('memberRemove'),
    description:
      'Removes a member from the project. Returns true. The API keys they created for it and the invitations they sent stop working.',
    args: { userId: t.arg.id(userId) },
    resolve: async (_root, args, context) => {
      const actorId = person(context).id;
      await removeMember(callerProject(context), args.userId, { actorId });
      return true;
    },
  }),
  createProject: t.prismaField({
    type: 'Project',
    skipTypeScopes: true,
    description: 'Creates a project and makes the signed-in user its owner. Only for users who `mayCreateProject`.',
    args: { name: t.arg.string({ required: true, description: '1 to 200 characters.' }) },
    resolve: async (query, _root, { name }, context) => {
      const { id } = await createOwnProject(person(context).id, name);
      return db.project.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  projectDelete: t.field({
    type: ProjectDeletePayload,
    skipTypeScopes: true,
    authScopes: { own: true },
    description:
      'Deletes the project with everything in it, for good. Its requests are refused and nothing new is sent from now on; its data is deleted within minutes. Only for owners; `conflict` while it is being moved.',
    args: { name: t.arg.string({ required: true, description: "The project's exact name, as confirmation." }) },
    resolve: async (_root, { name }, context) => {
      const deletedId = callerProject(context);
      await deleteOwnProject(deletedId, name, person(context).id);
      return { deletedId };
    },
  }),
  renameMe: t.prismaField({
    type: User,
    skipTypeScopes: true,
    description: 'Changes the name of the signed-in user.',
    args: { name: t.arg.string({ required: true, description: '1 to 200 characters.' }) },
    resolve: async (query, _root, { name }, context) => {
      await renameUser(person(context).id, name);
      return db.user.findUniqueOrThrow({ ...query, where: { id: person(context).id } });
    },
  }),
  emailChangeRequest: t.field({
    type: EmailChangeRequestPayload,
    skipTypeScopes: true,
    description:
      'Sends a link to the address that the signed-in user wants to sign in with. The answer does not tell whether that address has an account: if it does, the email says so. A new request replaces an earlier one.',
    args: { input: t.arg({ type: EmailChangeInput, required: true, description: 'The new address.' }) },
    resolve: async (_root, { input }, context) => {
      const { id: userId, sessionId } = person(context);
      return { emailChange: await requestEmailChange({ ...input, userId, sessionId }) };
    },
  }),
  emailChangeConfirm: t.field({
    type: EmailChangeConfirmPayload,
    skipTypeScopes: true,
    description:
      'Changes the address of the signed-in user, who asked for it, by the token from the link. Sessions and roles stay. `not_found` if the token is invalid, used or expired, and `conflict` if the address has an account by then.',
    args: { token: t.arg.string({ required: true, description: 'The token from the link.' }) },
    resolve: async (_root, { token }, context) => {
      const { id: userId } = person(context);
      await confirmEmailChange(userId, token);
      return { userId };
    },
  }),
}));

removalMutation('invitationWithdraw', {
  replaces: 'withdrawInvitation',
  description: 'Withdraws an invitation.',
  id: 'Invitation id.',
  authScopes: { manage: true },
  remove: (context, id) => withdrawInvitation(callerProject(context), id),
});

removalMutation('sessionRevoke', {
  replaces: 'revokeSession',
  description: 'Ends one of your own sessions immediately.',
  id: 'Session id.',
  skipTypeScopes: true,
  remove: async (context, id) => {
    const { count } = await db.session.deleteMany({ where: { id, userId: person(context).id } });
    if (count === 0) throw notFound('session');
  },
});
