import {
  authenticated,
  batchLoader,
  builder,
  callerProject,
  type Context,
  db,
  Node,
  registerNode,
  removalMutation,
} from '@postroom/platform';
import {
  connectMailbox,
  disconnectMailbox,
  getMailbox,
  listMailboxes,
  testMailbox,
  updateMailbox,
} from '../mailboxes/mailboxes.ts';
import { beginAuthorization } from '../mailboxes/authorization.ts';
import { usedToday } from '../mailboxes/quota.ts';
import { byPeople } from './by-people.ts';

const MailboxProvider = builder.enumType('MailboxProvider', {
  description: 'Who runs a mailbox.',
  values: {
    gmail: { description: 'Gmail or Google Workspace.' },
    microsoft: { description: 'Microsoft 365 or Outlook.com.' },
    other: { description: 'Anybody else, whose server is named.' },
  },
});

const MailboxSignIn = builder.enumType('MailboxSignIn', {
  description: 'How a mailbox account is signed in to.',
  values: {
    password: { description: 'With a password, such as an app password.' },
    oauth2: { description: 'With access tokens, after a user has given consent at the provider.' },
  },
});

const MailboxStatus = builder.enumType('MailboxStatus', {
  description: 'Whether mail can go out by a mailbox account.',
  values: {
    connecting: { description: 'Consent has not been given yet.' },
    connected: { description: 'The connection is successful.' },
    needs_attention: { description: 'Somebody has to do something; the reason says what.' },
  },
});

const loadUsage = batchLoader((_: Context, ids) => usedToday(ids));

const MailboxAccount = builder.prismaObject('MailboxAccount', {
  interfaces: [Node],
  description:
    'A connected mailbox account; mail from its address is sent through its own server. Its secrets are never shown.',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Mailbox account id.' }),
    email: t.expose('email', { type: 'EmailAddress', description: 'Mail from this address goes out by it.' }),
    provider: t.expose('provider', { type: MailboxProvider, description: 'Who runs it.' }),
    signIn: t.expose('signIn', { type: MailboxSignIn, description: 'How it is signed in to.' }),
    host: t.exposeString('host', { description: 'Its mail server.' }),
    port: t.exposeInt('port', { description: 'The port of that.' }),
    username: t.exposeString('username', { description: 'Who signs in.' }),
    status: t.expose('status', { type: MailboxStatus, description: 'Whether mail can go out by it.' }),
    statusReason: t.exposeString('statusReason', {
      nullable: true,
      description: 'What is wrong, in the words of its server, and what to do about it if that is known.',
    }),
    checkedAt: t.expose('checkedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its server was last asked.',
    }),
    perMinute: t.exposeInt('perMinute', { description: 'Messages a minute at most.' }),
    dailyCap: t.exposeInt('dailyCap', { description: 'Messages in any 24 hours at most.' }),
    sentToday: t.int({
      description: 'Messages that it was used for in the last 24 hours.',
      complexity: 10,
      resolve: async ({ id }, _args, context) => (await loadUsage(context, id)) ?? 0,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

registerNode('mbx', 'MailboxAccount', (context, ids) =>
  db.mailboxAccount.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
);

builder.queryFields((t) => ({
  mailboxAccount: t.field({
    type: MailboxAccount,
    description: 'A mailbox account of the project; `not_found` when there is none.',
    args: { id: t.arg.id({ required: true, description: 'Mailbox account id.' }) },
    resolve: (_root, { id }, context) => getMailbox(callerProject(context), id),
  }),
  mailboxAccounts: t.field({
    type: [MailboxAccount],
    description: "The project's mailbox accounts, by address.",
    resolve: (_root, _args, context) => listMailboxes(callerProject(context)),
  }),
}));

const ConnectInput = builder.inputType('ConnectMailboxInput', {
  description: 'A mailbox account.',
  fields: (t) => ({
    email: t.field({ type: 'EmailAddress', required: true, description: 'Its address.' }),
    provider: t.field({ type: MailboxProvider, required: true, description: 'Who runs it.' }),
    signIn: t.field({ type: MailboxSignIn, required: true, description: 'How it is signed in to.' }),
    username: t.string({ description: 'Who signs in; the address unless given.' }),
    password: t.string({ description: 'A password, or an app password. It is never shown again.' }),
    clientId: t.string({ description: 'The OAuth2 client that was registered with the provider.' }),
    clientSecret: t.string({ description: 'Its secret. It is never shown again.' }),
    tenant: t.string({ description: 'Microsoft 365: the tenant whose accounts may sign in; any unless given.' }),
    host: t.string({ description: 'The mail server of another provider.' }),
    port: t.int({ description: 'Its port; 587 unless given.' }),
    implicitTls: t.boolean({ description: 'TLS from the first byte, as on port 465; otherwise STARTTLS.' }),
    perMinute: t.int({
      description: "Messages a minute at most; four fifths of the provider's own limit unless given.",
    }),
    dailyCap: t.int({ description: 'Messages in any 24 hours at most; likewise.' }),
  }),
});

const UpdateInput = builder.inputType('UpdateMailboxInput', {
  description: 'What is to change of a mailbox account.',
  fields: (t) => ({
    username: t.string({ description: 'Who signs in.' }),
    password: t.string({ description: 'The new password.' }),
    clientId: t.string({ description: 'Another OAuth2 client; consent must be given again.' }),
    clientSecret: t.string({ description: "The client's new secret." }),
    tenant: t.string({ description: 'Microsoft 365: the tenant whose accounts may sign in.' }),
    host: t.string({ description: 'The mail server of another provider.' }),
    port: t.int({ description: 'Its port.' }),
    implicitTls: t.boolean({ description: 'TLS from the first byte; otherwise STARTTLS.' }),
    perMinute: t.int({ description: 'Messages a minute at most.' }),
    dailyCap: t.int({ description: 'Messages in any 24 hours at most.' }),
  }),
});

const MailboxConsent = builder
  .objectRef<{ id: string; projectId: string; authorizationUrl: string | null }>('MailboxConsent')
  .implement({
    description: 'A mailbox account, and the page on which its owner gives consent.',
    fields: (t) => ({
      account: t.field({
        type: MailboxAccount,
        description: 'The account.',
        resolve: ({ id, projectId }) => getMailbox(projectId, id),
      }),
      authorizationUrl: t.exposeString('authorizationUrl', {
        nullable: true,
        description:
          'The page of the provider to consent at, within 15 minutes and in this browser; null with a password.',
      }),
    }),
  });

const idArg = 'Mailbox account id.';

builder.mutationFields((t) => ({
  connectMailbox: t.field({
    ...byPeople,
    type: MailboxConsent,
    description: 'Adds a mailbox account. `conflict` when the project has one of the address.',
    args: { input: t.arg({ type: ConnectInput, required: true, description: 'The account.' }) },
    resolve: async (_root, { input }, context) => {
      const projectId = callerProject(context);
      return { projectId, ...(await connectMailbox(projectId, authenticated(context).id, input)) };
    },
  }),
  authorizeMailbox: t.field({
    ...byPeople,
    type: MailboxConsent,
    description: 'Begins to ask for consent again, for an account that signs in with OAuth2.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: async (_root, { id }, context) => {
      const projectId = callerProject(context);
      const authorizationUrl = await beginAuthorization(projectId, id, authenticated(context).id);
      return { id, projectId, authorizationUrl };
    },
  }),
  updateMailbox: t.field({
    ...byPeople,
    type: MailboxAccount,
    description: 'Changes a mailbox account and tests it; what is not given stays, secrets included.',
    args: {
      id: t.arg.id({ required: true, description: idArg }),
      input: t.arg({ type: UpdateInput, required: true, description: 'What is to change.' }),
    },
    resolve: async (_root, { id, input }, context) => {
      const projectId = callerProject(context);
      await updateMailbox(projectId, id, input);
      return getMailbox(projectId, id);
    },
  }),
  testMailbox: t.field({
    ...byPeople,
    type: MailboxAccount,
    description: 'Tests the connection to the account without sending; the result is in its status.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: async (_root, { id }, context) => {
      const projectId = callerProject(context);
      await testMailbox(projectId, id);
      return getMailbox(projectId, id);
    },
  }),
}));

removalMutation('mailboxDisconnect', {
  replaces: 'disconnectMailbox',
  description: 'Removes a mailbox account with its secrets. Email that waits for it is canceled; its campaigns pause.',
  id: 'Mailbox account id.',
  ...byPeople,
  remove: (context, id) => disconnectMailbox(callerProject(context), id),
});
