import { builder, callerProject, db, Node, registerNode, removalMutation } from '@postroom/platform';
import {
  createProvider,
  deleteProvider,
  getProvider,
  listProviders,
  notificationUrl,
  signInName,
  testProvider,
  updateProvider,
} from '../providers.ts';
import type { SesSettings } from '../ses/ses.ts';
import type { SmtpSettings } from '../smtp.ts';
import { byPeople } from './by-people.ts';

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

registerNode(
  'prv',
  'MailProvider',
  (context, ids) => db.mailProvider.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
  'manage',
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
}));

const SmtpInput = builder.inputType('SmtpProviderInput', {
  description: 'A relay. In an update, what is not given stays, and null takes a limit away.',
  fields: (t) => ({
    host: t.string({ description: 'Its name or public address.' }),
    port: t.int({ description: 'Its port; 465, 587 or 25 unless given, as `tls` has it.' }),
    tls: t.field({ type: MailTls, description: 'How the connection is encrypted; `starttls` unless given.' }),
    username: t.string({ description: 'Username; without one, no authentication.' }),
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
}));

removalMutation('mailProviderDelete', {
  replaces: 'deleteMailProvider',
  description: 'Deletes a mail provider with its secrets. Mail goes through the remaining ones.',
  id: 'Provider id.',
  ...byPeople,
  remove: (context, id) => deleteProvider(callerProject(context), id),
});
