import { builder, callerProject, db, managersOnly, Node, registerNode, removalMutation } from '@postroom/platform';
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

const ProviderKind = builder.enumType('MailProviderKind', {
  description: 'A kind of mail provider.',
  values: {
    smtp: { description: 'An SMTP relay.' },
    ses: { description: 'Amazon SES through its API.' },
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
    starttls: { description: 'STARTTLS is required.' },
    optional: { description: 'STARTTLS if offered; not allowed with a password.' },
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
    kind: t.expose('kind', { type: ProviderKind, description: 'Kind of provider.' }),
    domain: t.string({
      nullable: true,
      description: 'The sending domain that uses it; null for all domains without their own provider.',
      resolve: ({ domain }) => (domain === '' ? null : domain),
    }),
    position: t.exposeInt('position', {
      description: 'The lowest is tried first, the others when it accepts no mail.',
    }),
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
      description: 'Username; null without authentication, and for SES.',
      resolve: (provider) => (provider.kind === 'smtp' ? signInName(provider) : null),
    }),
    connections: t.int({
      nullable: true,
      description: 'Maximum concurrent connections; null for the default of the host.',
      resolve: (provider) => smtpOf(provider)?.connections,
    }),
    messagesPerConnection: t.int({
      nullable: true,
      description: 'Maximum messages per connection; null for the default of the host.',
      resolve: (provider) => smtpOf(provider)?.messagesPerConnection,
    }),
    ratePerSecond: t.int({
      nullable: true,
      description: 'Maximum messages per second, across all workers; null for no limit.',
      resolve: (provider) => smtpOf(provider)?.ratePerSecond,
    }),
    accessKeyId: t.string({
      nullable: true,
      description: 'AWS access key id; null for a relay.',
      resolve: (provider) => (provider.kind === 'ses' ? signInName(provider) : null),
    }),
    endpoint: t.string({
      nullable: true,
      description: "Custom endpoint; null for the region's default.",
      resolve: (provider) => sesOf(provider)?.endpoint,
    }),
    region: t.string({
      nullable: true,
      description: 'AWS region; null for a relay.',
      resolve: (provider) => sesOf(provider)?.region,
    }),
    configurationSet: t.string({
      nullable: true,
      description: 'The configuration set that publishes events.',
      resolve: (provider) => sesOf(provider)?.configurationSet,
    }),
    topicArn: t.string({
      nullable: true,
      description: 'The SNS topic that delivers events.',
      resolve: (provider) => sesOf(provider)?.topicArn,
    }),
    notificationUrl: t.string({
      nullable: true,
      description: 'The URL to which SNS posts events; null for a relay.',
      resolve: notificationUrl,
    }),
    status: t.expose('status', { type: ConnectionStatus, description: 'Result of the last connection test.' }),
    statusReason: t.exposeString('statusReason', { nullable: true, description: 'Why the connection failed.' }),
    checkedAt: t.expose('checkedAt', { type: 'DateTime', nullable: true, description: 'When it was last tested.' }),
    subscribedAt: t.expose('subscribedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the SNS subscription was confirmed; null before that.',
    }),
    notifiedAt: t.expose('notifiedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last event arrived, to the minute.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Creation time.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

registerNode(
  'prv',
  'MailProvider',
  (context, ids) => db.mailProvider.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
  'manage',
  // Credentials are a separate column.
  {
    select: `SELECT id, name, domain, position, settings FROM mail_providers WHERE id = ANY ($1::text[]) AND project_id = $2`,
  },
);

builder.queryFields((t) => ({
  mailProvider: t.field({
    ...managersOnly,
    type: MailProvider,
    description: 'A mail provider of the project; `not_found` if it does not exist.',
    args: { id: t.arg.id({ required: true, description: 'Provider id.' }) },
    resolve: (_root, { id }, context) => getProvider(callerProject(context), id),
  }),
  mailProviders: t.field({
    ...managersOnly,
    type: [MailProvider],
    description:
      'The mail providers of the project, in the order in which they are tried. Without any, the installation sends its mail.',
    resolve: (_root, _args, context) => listProviders(callerProject(context)),
  }),
}));

const SmtpInput = builder.inputType('SmtpProviderInput', {
  description: 'An SMTP relay. An update keeps omitted values, and null removes a limit.',
  fields: (t) => ({
    host: t.string({ description: 'Hostname or public address.' }),
    port: t.int({ description: 'Port; the default is 465, 587 or 25, depending on `tls`.' }),
    tls: t.field({ type: MailTls, description: 'How the connection is encrypted; default: `starttls`.' }),
    username: t.string({ description: 'Username; omit it for no authentication.' }),
    password: t.string({ description: 'Password. It is never shown again.' }),
    connections: t.int({ description: 'Maximum concurrent connections; the default depends on the host.' }),
    messagesPerConnection: t.int({ description: 'Maximum messages per connection; the default depends on the host.' }),
    ratePerSecond: t.int({ description: 'Maximum messages per second, across all workers; default: no limit.' }),
  }),
});

const SesInput = builder.inputType('SesProviderInput', {
  description: 'Amazon SES. An update keeps omitted values.',
  fields: (t) => ({
    region: t.string({ description: 'AWS region, such as `eu-west-1`.' }),
    accessKeyId: t.string({ description: 'Access key id of an IAM user that may send.' }),
    secretAccessKey: t.string({ description: 'Secret access key. It is never shown again.' }),
    configurationSet: t.string({ description: 'Configuration set; required for events.' }),
    topicArn: t.string({ description: 'The SNS topic that receives its events.' }),
    endpoint: t.string({ description: 'Custom endpoint, such as that of a private link.' }),
  }),
});

const ProviderInput = builder.inputType('MailProviderInput', {
  description: 'A mail provider: either `smtp` or `ses`.',
  fields: (t) => ({
    name: t.string({ description: 'Display name; required for a new provider.' }),
    domain: t.string({ description: 'The sending domain that uses it; empty for the whole project.' }),
    position: t.int({ description: 'The lowest is tried first; default: 1.' }),
    smtp: t.field({ type: SmtpInput, description: 'An SMTP relay.' }),
    ses: t.field({ type: SesInput, description: 'Amazon SES.' }),
  }),
});

builder.mutationFields((t) => ({
  createMailProvider: t.field({
    ...managersOnly,
    type: MailProvider,
    description: 'Adds a mail provider, which is used starting with the next message.',
    args: { input: t.arg({ type: ProviderInput, required: true, description: 'The mail provider.' }) },
    resolve: async (_root, { input }, context) => {
      const projectId = callerProject(context);
      return getProvider(projectId, await createProvider(projectId, input));
    },
  }),
  updateMailProvider: t.field({
    ...managersOnly,
    type: MailProvider,
    description: 'Changes a mail provider. Omitted values are kept, including secrets.',
    args: {
      id: t.arg.id({ required: true, description: 'Provider id.' }),
      input: t.arg({ type: ProviderInput, required: true, description: 'The changes.' }),
    },
    resolve: async (_root, { id, input }, context) => {
      const projectId = callerProject(context);
      await updateProvider(projectId, id, input);
      return getProvider(projectId, id);
    },
  }),
  testMailProvider: t.field({
    ...managersOnly,
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
  ...managersOnly,
  remove: (context, id) => deleteProvider(callerProject(context), id),
});
