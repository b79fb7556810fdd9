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
} from './mailboxes/mailboxes.ts';
import { beginAuthorization } from './mailboxes/authorization.ts';
import { usedToday } from './mailboxes/quota.ts';
import {
  createProvider,
  deleteProvider,
  getProvider,
  listProviders,
  notificationUrl,
  signInName,
  testProvider,
  updateProvider,
} from './providers.ts';
import type { SesSettings } from './ses/ses.ts';
import type { SmtpSettings } from './smtp.ts';

const ProviderKind = builder.enumType('MailProviderKind', {
  description: 'A kind of mail provider.',
  values: {
    smtp: { description: 'A relay, over SMTP.' },
    ses: { description: 'Amazon SES, over its API.' },
  },
});

const ConnectionStatus = builder.enumType('ConnectionStatus', {
  description: 'The result of the last connection test.',
  values: {
    untested: { description: 'It has not been tested since it was last changed.' },
    working: { description: 'The connection was successful.' },
    failing: { description: 'The connection failed; the reason says why.' },
  },
});

const MailTls = builder.enumType('MailTls', {
  description: 'How a connection to a mail server is encrypted.',
  values: {
    implicit: { description: 'TLS from the first byte, as on port 465.' },
    starttls: { description: 'STARTTLS, or no mail.' },
    optional: { description: 'STARTTLS where it is offered; never with a password.' },
  },
});

// The specification keeps what holds secrets to the dashboard: people who are signed in, never an API key.
const byPeople = { authScopes: { manage: true }, skipTypeScopes: true } as const;

const smtpOf = (provider: { kind: string; settings: unknown }) =>
  provider.kind === 'smtp' ? (provider.settings as SmtpSettings) : undefined;
const sesOf = (provider: { kind: string; settings: unknown }) =>
  provider.kind === 'ses' ? (provider.settings as SesSettings) : undefined;

const MailProvider = builder.prismaObject('MailProvider', {
  interfaces: [Node],
  description: 'A mail provider of a project. Its secrets are never shown.',
  authScopes: { manage: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Provider id.' }),
    name: t.exposeString('name', { description: 'Display name.' }),
    kind: t.expose('kind', { type: ProviderKind, description: 'What it is.' }),
    domain: t.string({
      nullable: true,
      description: 'The sending domain whose mail goes this way; null when it is all that have no way of their own.',
      resolve: ({ domain }) => (domain === '' ? null : domain),
    }),
    position: t.exposeInt('position', { description: 'The lowest is tried first, the others when it takes nothing.' }),
    host: t.string({
      nullable: true,
      description: 'The mail server; null for SES.',
      resolve: (provider) => smtpOf(provider)?.host,
    }),
    port: t.int({ nullable: true, description: 'Its port.', resolve: (provider) => smtpOf(provider)?.port }),
    tls: t.field({
      type: MailTls,
      nullable: true,
      description: 'How the connection is encrypted.',
      resolve: (provider) => smtpOf(provider)?.tls,
    }),
    username: t.string({
      nullable: true,
      description: 'Who signs in there; null for nobody, and for SES.',
      resolve: (provider) => (provider.kind === 'smtp' ? signInName(provider) : null),
    }),
    connections: t.int({
      nullable: true,
      description: 'Connections at a time that were set; null for what the host is known to take.',
      resolve: (provider) => smtpOf(provider)?.connections,
    }),
    messagesPerConnection: t.int({
      nullable: true,
      description: 'Messages over one connection that were set; likewise.',
      resolve: (provider) => smtpOf(provider)?.messagesPerConnection,
    }),
    ratePerSecond: t.int({
      nullable: true,
      description: 'Messages a second that one worker sends at most; null for no limit.',
      resolve: (provider) => smtpOf(provider)?.ratePerSecond,
    }),
    accessKeyId: t.string({
      nullable: true,
      description: 'The id of the access key of AWS; null for a relay.',
      resolve: (provider) => (provider.kind === 'ses' ? signInName(provider) : null),
    }),
    endpoint: t.string({
      nullable: true,
      description: "Another address than the region's own; null unless given.",
      resolve: (provider) => sesOf(provider)?.endpoint,
    }),
    region: t.string({
      nullable: true,
      description: 'The region of AWS; null for a relay.',
      resolve: (provider) => sesOf(provider)?.region,
    }),
    configurationSet: t.string({
      nullable: true,
      description: 'The configuration set whose events come back.',
      resolve: (provider) => sesOf(provider)?.configurationSet,
    }),
    topicArn: t.string({
      nullable: true,
      description: 'The topic of SNS that events come by.',
      resolve: (provider) => sesOf(provider)?.topicArn,
    }),
    notificationUrl: t.string({
      nullable: true,
      description: 'Where SNS is to post events to; null for a relay.',
      resolve: notificationUrl,
    }),
    status: t.expose('status', { type: ConnectionStatus, description: 'How it answered when it was last tried.' }),
    statusReason: t.exposeString('statusReason', { nullable: true, description: 'Why the connection failed.' }),
    checkedAt: t.expose('checkedAt', { type: 'DateTime', nullable: true, description: 'When it was last tried.' }),
    subscribedAt: t.expose('subscribedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the subscription of SNS was confirmed; null while it is not.',
    }),
    notifiedAt: t.expose('notifiedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last event came, give or take a minute.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was set up.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

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

registerNode(
  'prv',
  'MailProvider',
  (context, ids) => db.mailProvider.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
  'manage',
);
registerNode('mbx', 'MailboxAccount', (context, ids) =>
  db.mailboxAccount.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
);

builder.queryFields((t) => ({
  mailProvider: t.field({
    ...byPeople,
    type: MailProvider,
    description: 'A mail provider of the project; `not_found` if it does not exist.',
    args: { id: t.arg.id({ required: true, description: 'Provider id.' }) },
    resolve: (_root, { id }, context) => getProvider(callerProject(context), id),
  }),
  mailProviders: t.field({
    ...byPeople,
    type: [MailProvider],
    description:
      'The mail providers of the project, in the order in which they are tried. Without any, the installation sends its mail.',
    resolve: (_root, _args, context) => listProviders(callerProject(context)),
  }),
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

const SmtpInput = builder.inputType('SmtpProviderInput', {
  description: 'A relay. In an update, what is not given stays, and null takes a limit away.',
  fields: (t) => ({
    host: t.string({ description: 'Its name or public address.' }),
    port: t.int({ description: 'Its port; 465, 587 or 25 unless given, as `tls` has it.' }),
    tls: t.field({ type: MailTls, description: 'How the connection is encrypted; `starttls` unless given.' }),
    username: t.string({ description: 'User name; without one, no authentication.' }),
    password: t.string({ description: 'The password of that. It is never shown again.' }),
    connections: t.int({ description: 'Connections at a time; what the host is known to take, unless given.' }),
    messagesPerConnection: t.int({ description: 'Messages over one connection; likewise.' }),
    ratePerSecond: t.int({ description: 'Messages a second that one worker sends at most; no limit unless given.' }),
  }),
});

const SesInput = builder.inputType('SesProviderInput', {
  description: 'Amazon SES. In an update, what is not given stays.',
  fields: (t) => ({
    region: t.string({ description: 'Such as `eu-west-1`.' }),
    accessKeyId: t.string({ description: 'Of a user that may send.' }),
    secretAccessKey: t.string({ description: 'Of the same. It is never shown again.' }),
    configurationSet: t.string({ description: 'Needed for events; without one SES tells of nothing.' }),
    topicArn: t.string({ description: 'The topic of SNS that its events go to.' }),
    endpoint: t.string({ description: "Another address than the region's own, such as that of a private link." }),
  }),
});

const ProviderInput = builder.inputType('MailProviderInput', {
  description: 'A mail provider: give `smtp` or `ses`.',
  fields: (t) => ({
    name: t.string({ description: 'Display name; required for a new one.' }),
    domain: t.string({ description: 'A sending domain whose mail goes this way; empty for all the project.' }),
    position: t.int({ description: 'The lowest is tried first; 1 unless given.' }),
    smtp: t.field({ type: SmtpInput, description: 'A relay.' }),
    ses: t.field({ type: SesInput, description: 'Amazon SES.' }),
  }),
});

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
  createMailProvider: t.field({
    ...byPeople,
    type: MailProvider,
    description: 'Adds a mail provider, which is used from the next message on.',
    args: { input: t.arg({ type: ProviderInput, required: true, description: 'The mail provider.' }) },
    resolve: async (_root, { input }, context) => {
      const projectId = callerProject(context);
      return getProvider(projectId, await createProvider(projectId, input));
    },
  }),
  updateMailProvider: t.field({
    ...byPeople,
    type: MailProvider,
    description: 'Changes a mail provider; what is not given stays, secrets included.',
    args: {
      id: t.arg.id({ required: true, description: 'Provider id.' }),
      input: t.arg({ type: ProviderInput, required: true, description: 'What is to change.' }),
    },
    resolve: async (_root, { id, input }, context) => {
      const projectId = callerProject(context);
      await updateProvider(projectId, id, input);
      return getProvider(projectId, id);
    },
  }),
  testMailProvider: t.field({
    ...byPeople,
    type: MailProvider,
    description: 'Tests the connection to a mail provider without sending; the result is in its status.',
    args: { id: t.arg.id({ required: true, description: 'Provider id.' }) },
    resolve: async (_root, { id }, context) => {
      const projectId = callerProject(context);
      await testProvider(projectId, id);
      return getProvider(projectId, id);
    },
  }),
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

removalMutation('mailProviderDelete', {
  replaces: 'deleteMailProvider',
  description: 'Deletes a mail provider with its secrets. Mail goes through the remaining ones.',
  id: 'Provider id.',
  ...byPeople,
  remove: (context, id) => deleteProvider(callerProject(context), id),
});

removalMutation('mailboxDisconnect', {
  replaces: 'disconnectMailbox',
  description: 'Removes a mailbox account with its secrets. Email that waits for it is canceled; its campaigns pause.',
  id: 'Mailbox account id.',
  ...byPeople,
  remove: (context, id) => disconnectMailbox(callerProject(context), id),
});
