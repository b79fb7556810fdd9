import {
  authenticated,
  batchLoader,
  builder,
  callerProject,
  type Context,
  db,
  managersOnly,
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

const MailboxProvider = builder.enumType('MailboxProvider', {
  description: 'The provider of a mailbox.',
  values: {
    gmail: { description: 'Gmail or Google Workspace.' },
    microsoft: { description: 'Microsoft 365 or Outlook.com.' },
    other: { description: 'Another provider, with the given server.' },
  },
});

const MailboxSignIn = builder.enumType('MailboxSignIn', {
  description: 'How a mailbox account is authenticated.',
  values: {
    password: { description: 'With a password, such as an app password.' },
    oauth2: { description: 'With access tokens, after a user has given consent at the provider.' },
  },
});

const MailboxStatus = builder.enumType('MailboxStatus', {
  description: 'Whether a mailbox account can send mail.',
  values: {
    connecting: { description: 'Its owner has not given consent yet.' },
    connected: { description: 'The connection is successful.' },
    needs_attention: { description: 'A user has to act; the reason says how.' },
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
    email: t.expose('email', {
      type: 'EmailAddress',
      description: 'Its address; mail from this address is sent through it.',
    }),
    provider: t.expose('provider', { type: MailboxProvider, description: 'Its provider.' }),
    signIn: t.expose('signIn', { type: MailboxSignIn, description: 'How it is authenticated.' }),
    host: t.exposeString('host', { description: 'Its mail server.' }),
    port: t.exposeInt('port', { description: 'Port of the mail server.' }),
    username: t.exposeString('username', { description: 'Username.' }),
    status: t.expose('status', { type: MailboxStatus, description: 'Whether it can send mail.' }),
    statusReason: t.exposeString('statusReason', {
      nullable: true,
      description: 'The error reported by its server, and how to fix it if known.',
    }),
    checkedAt: t.expose('checkedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the connection was last tested.',
    }),
    perMinute: t.exposeInt('perMinute', { description: 'Maximum messages per minute.' }),
    dailyCap: t.exposeInt('dailyCap', { description: 'Maximum messages in any 24 hours.' }),
    sentToday: t.int({
      description: 'Messages sent through it in the last 24 hours.',
      complexity: 10,
      resolve: async ({ id }, _args, context) => (await loadUsage(context, id)) ?? 0,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

registerNode(
  'mbx',
  'MailboxAccount',
  (context, ids) => db.mailboxAccount.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
  'read',
  {
    select: `SELECT id, email, host, port, implicit_tls AS "implicitTls", username, sign_in AS "signIn",
        per_minute AS "perMinute", daily_cap AS "dailyCap" FROM mailbox_accounts
      WHERE id = ANY ($1::text[]) AND project_id = $2`,
    of: ({ id: _, email, ...values }: { id: string; email: string }) => ({ name: email, values }),
  },
);

builder.queryFields((t) => ({
  mailboxAccount: t.field({
    type: MailboxAccount,
    description: 'A mailbox account of the project; `not_found` if it does not exist.',
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
    provider: t.field({ type: MailboxProvider, required: true, description: 'Its provider.' }),
    signIn: t.field({ type: MailboxSignIn, required: true, description: 'How it is authenticated.' }),
    username: t.string({ description: 'Username; default: the address.' }),
    password: t.string({ description: 'Password or app password. It is never shown again.' }),
    clientId: t.string({ description: 'Id of the OAuth2 client registered with the provider.' }),
    clientSecret: t.string({ description: 'Its secret. It is never shown again.' }),
    tenant: t.string({ description: 'Microsoft 365: the tenant whose accounts may sign in; default: any.' }),
    host: t.string({ description: 'The mail server of another provider.' }),
    port: t.int({ description: 'Port; default: 587.' }),
    implicitTls: t.boolean({ description: 'TLS from the first byte, as on port 465; otherwise STARTTLS.' }),
    perMinute: t.int({
      description: 'Maximum messages per minute; the default depends on the provider.',
    }),
    dailyCap: t.int({ description: 'Maximum messages in any 24 hours; the default depends on the provider.' }),
  }),
});

const UpdateInput = builder.inputType('UpdateMailboxInput', {
  description: 'Changes to a mailbox account.',
  fields: (t) => ({
    username: t.string({ description: 'Username.' }),
    password: t.string({ description: 'The new password.' }),
    clientId: t.string({ description: 'Another OAuth2 client, which requires new consent.' }),
    clientSecret: t.string({ description: "The client's new secret." }),
    tenant: t.string({ description: 'Microsoft 365: the tenant whose accounts may sign in.' }),
    host: t.string({ description: 'The mail server of another provider.' }),
    port: t.int({ description: 'Its port.' }),
    implicitTls: t.boolean({ description: 'TLS from the first byte; otherwise STARTTLS.' }),
    perMinute: t.int({ description: 'Maximum messages per minute.' }),
    dailyCap: t.int({ description: 'Maximum messages in any 24 hours.' }),
  }),
});

const MailboxConsent = builder
  .objectRef<{ id: string; projectId: string; authorizationUrl: string | null }>('MailboxConsent')
  .implement({
    description: 'A mailbox account, and the page where its owner gives consent.',
    fields: (t) => ({
      account: t.field({
        type: MailboxAccount,
        description: 'The account.',
        resolve: ({ id, projectId }) => getMailbox(projectId, id),
      }),
      authorizationUrl: t.exposeString('authorizationUrl', {
        nullable: true,
        description: "The provider's consent page, to open in this browser within 15 minutes; null with a password.",
      }),
    }),
  });

const idArg = 'Mailbox account id.';

builder.mutationFields((t) => ({
  connectMailbox: t.field({
    ...managersOnly,
    type: MailboxConsent,
    description: 'Adds a mailbox account. `conflict` if the project already has one with this address.',
    args: { input: t.arg({ type: ConnectInput, required: true, description: 'The account.' }) },
    resolve: async (_root, { input }, context) => {
      const projectId = callerProject(context);
      return { projectId, ...(await connectMailbox(projectId, authenticated(context).id, input)) };
    },
  }),
  authorizeMailbox: t.field({
    ...managersOnly,
    type: MailboxConsent,
    description: 'Requests consent again for an account that uses OAuth2.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: async (_root, { id }, context) => {
      const projectId = callerProject(context);
      const authorizationUrl = await beginAuthorization(projectId, id, authenticated(context).id);
      return { id, projectId, authorizationUrl };
    },
  }),
  updateMailbox: t.field({
    ...managersOnly,
    type: MailboxAccount,
    description: 'Changes a mailbox account and tests it. Omitted values are kept, including secrets.',
    args: {
      id: t.arg.id({ required: true, description: idArg }),
      input: t.arg({ type: UpdateInput, required: true, description: 'The changes.' }),
    },
    resolve: async (_root, { id, input }, context) => {
      const projectId = callerProject(context);
      await updateMailbox(projectId, id, input);
      return getMailbox(projectId, id);
    },
  }),
  testMailbox: t.field({
    ...managersOnly,
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
  description: 'Removes a mailbox account with its secrets. Waiting email is canceled, and its campaigns are paused.',
  id: 'Mailbox account id.',
  ...managersOnly,
  remove: (context, id) => disconnectMailbox(callerProject(context), id),
});
