import {
  atMost,
  authenticated,
  batchLoader,
  builder,
  callerProject,
  type Context,
  db,
  jsonSchema,
  listOf,
  Node,
  NOT_EMPTY,
  notNull,
  registerNode,
  relayNames,
  removalMutation,
  rowsQuery,
  replacesMutation,
  useInstead,
  oneLine,
  managersOnly,
} from '@postroom/platform';
import { replayFailed, sendTestEvent } from '../deliveries.ts';
import { withoutSecrets } from '../without-secrets.ts';
import {
  createEndpoint,
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
  getEndpoint,
  listEndpoints,
  MAX_DESCRIPTION_LENGTH,
  MAX_URL_LENGTH,
  revealSecret,
  rotateSecret,
  updateEndpoint,
} from '../endpoints.ts';
import { SECRET_LENGTH } from '@postroom/guarded-client';
import { type DeliveryStats, deliveryStats } from '../delivery-stats.ts';
import { type Answers, answersOf, type AttemptHour } from '../endpoint-state.ts';
import { ALL_EVENTS, EVENT_TYPE_NAMES, MAX_TYPE_LENGTH } from '@postroom/events';

const Recent = builder.objectRef<DeliveryStats>('RecentDeliveries').implement({
  description: 'Outcomes of the latest deliveries to an endpoint: the last 24 hours, at most 5,000.',
  fields: (t) => ({
    acknowledged: t.exposeInt('acknowledged', { description: 'Acknowledged with a 2xx status.' }),
    retried: t.exposeInt('retried', { description: 'Not acknowledged yet and being retried.' }),
    failed: t.exposeInt('failed', { description: 'Failed permanently.' }),
    queued: t.exposeInt('queued', { description: 'Not attempted yet.' }),
    more: t.exposeBoolean('more', { description: 'Whether there were more than were counted.' }),
    medianMs: t.exposeInt('medianMs', {
      nullable: true,
      description: 'Median response time in milliseconds; null without attempts.',
    }),
    p95Ms: t.exposeInt('p95Ms', {
      nullable: true,
      description: '95th percentile of the response time in milliseconds; null without attempts.',
    }),
  }),
});

const loadRecent = batchLoader((_: Context, ids) => deliveryStats(ids));

const State = builder.enumType('WebhookEndpointState', {
  description: 'How well an endpoint answers, by the share of attempts that failed in the last 24 hours.',
  values: {
    idle: { description: 'There were no attempts.' },
    healthy: { description: 'Less than 5 % failed.' },
    degraded: { description: 'At least 5 % failed.' },
    failing: { description: 'At least half failed.' },
  },
});

const Hour = builder.objectRef<AttemptHour>('WebhookEndpointHour').implement({
  description: 'Attempts that started in one hour.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'The start of the hour.' }),
    acknowledged: t.exposeInt('acknowledged', { description: 'Attempts with a 2xx status.' }),
    failed: t.exposeInt('failed', { description: 'The other attempts.' }),
  }),
});

const Health = builder.objectRef<Answers>('WebhookEndpointHealth').implement({
  description: 'Attempts of deliveries to an endpoint in the last 24 hours.',
  fields: (t) => ({
    state: t.expose('state', { type: State, description: 'How well it answers.' }),
    acknowledged: t.exposeInt('acknowledged', { description: 'Attempts with a 2xx status.' }),
    failed: t.exposeInt('failed', { description: 'The other attempts.' }),
    hours: t.expose('hours', {
      type: [Hour],
      description: 'Each of the 24 hours, oldest first; the last one is the current hour.',
    }),
  }),
});

const loadHealth = batchLoader((_: Context, ids) => answersOf(ids));

const Endpoint = builder.prismaObject('WebhookEndpoint', {
  interfaces: [Node],
  description: "A customer's URL that events are posted to. Its signing secret is shown once, when it is created.",
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Endpoint id.' }),
    url: t.exposeString('url', { description: 'The URL to which events are posted.', ...atMost(MAX_URL_LENGTH) }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'Description.',
      ...atMost(MAX_DESCRIPTION_LENGTH),
    }),
    events: t.exposeStringList('events', {
      description: 'Event types, or `["*"]` for all current and future types.',
      ...listOf({ maxLength: MAX_TYPE_LENGTH }),
    }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether it receives events.' }),
    disabledAt: t.expose('disabledAt', { type: 'DateTime', nullable: true, description: 'When it was disabled.' }),
    disabledReason: t.exposeString('disabledReason', { nullable: true, description: 'Why it was disabled.' }),
    disabledAutomatically: t.exposeBoolean('disabledAutomatically', {
      description:
        'Whether it was disabled because its deliveries kept failing. Then only a signed-in user can enable it.',
    }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'When attempts began to fail; null if the last one was acknowledged.',
    }),
    previousSecretExpiresAt: t.expose('previousSecretExpiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Until when the previous secret also signs `X-Webhook-Signature-Previous`; null without one.',
    }),
    recent: t.field({
      type: Recent,
      description: 'Outcomes of the last 24 hours.',
      complexity: 20,
      resolve: async ({ id }, _args, context) => (await loadRecent(context, id)) as DeliveryStats,
    }),
    health: t.field({
      type: Health,
      description: 'How well it answered in the last 24 hours.',
      complexity: 5,
      resolve: async ({ id }, _args, context) => (await loadHealth(context, id)) as Answers,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

registerNode(
  'whe',
  'WebhookEndpoint',
  (context, ids) => db.webhookEndpoint.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
  'read',
  {
    select: `SELECT id, url, description, events, enabled FROM webhook_endpoints
      WHERE id = ANY ($1::text[]) AND project_id = $2`,
    of: ({ id: _, ...row }: { id: string; url: string; description: string | null }) => {
      const url = withoutSecrets(row.url);
      return { name: row.description ?? url, values: { ...row, url } };
    },
  },
);

const idArg = 'Endpoint id.';

const SECRET = atMost(SECRET_LENGTH);

/** Full-scope keys, and users who manage the project. */
const byKeysAndManagers = (context: Context) =>
  authenticated(context).kind === 'key' ? { write: true } : { manage: true };

builder.queryFields((t) => ({
  webhookEndpoint: t.prismaField({
    type: Endpoint,
    description: 'A webhook endpoint of the project; `not_found` if it does not exist.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: (query, _root, { id }, context) => getEndpoint(callerProject(context), id, query),
  }),
  webhookEndpoints: t.connection(
    {
      type: Endpoint,
      description: "The project's webhook endpoints, newest first.",
      resolve: (_root, args, context, info) => listEndpoints(callerProject(context), args, rowsQuery(context, info)),
    },
    ...relayNames('WebhookEndpoint'),
  ),
}));

const SUBSCRIBED = jsonSchema({ minItems: 1, items: { type: 'string', enum: [...EVENT_TYPE_NAMES, ALL_EVENTS] } });

const URL_OF_ENDPOINT = jsonSchema({ minLength: 1, maxLength: MAX_URL_LENGTH, pattern: '^https?://' });

const CreateEndpointInput = builder.inputType('CreateWebhookEndpointInput', {
  description: 'A new webhook endpoint.',
  fields: (t) => ({
    url: t.string({
      required: true,
      description: 'An HTTPS URL that is reachable from the internet.',
      ...URL_OF_ENDPOINT,
    }),
    events: t.stringList({
      required: true,
      description: 'Event types, or `["*"]` for all current and future types.',
      ...SUBSCRIBED,
    }),
    description: t.string({
      description: 'Description; at most 500 characters.',
      ...oneLine(MAX_DESCRIPTION_LENGTH),
    }),
  }),
});

const UpdateEndpointInput = builder.inputType('UpdateWebhookEndpointInput', {
  ...NOT_EMPTY,
  description: 'Changes to an endpoint; omitted values are kept.',
  fields: (t) => ({
    url: t.string({
      description: 'An HTTPS URL that is reachable from the internet.',
      ...notNull(URL_OF_ENDPOINT),
    }),
    events: t.stringList({
      description: 'Event types, or `["*"]`; replaces the previous list.',
      ...notNull(SUBSCRIBED),
    }),
    description: t.string({
      description: 'Description; at most 500 characters. An empty string or null removes it.',
      ...oneLine(MAX_DESCRIPTION_LENGTH),
    }),
  }),
});

const CreateEndpointPayload = builder
  .objectRef<{ id: string; secret: string }>('CreateWebhookEndpointPayload')
  .implement({
    description: 'A new endpoint with its signing secret, which is shown only once.',
    fields: (t) => ({
      endpoint: t.prismaField({
        type: Endpoint,
        description: 'The endpoint.',
        resolve: (query, { id }) => db.webhookEndpoint.findUniqueOrThrow({ ...query, where: { id } }),
      }),
      secret: t.exposeString('secret', { description: 'The signing secret; it starts with `whsec_`.', ...SECRET }),
    }),
  });

const SendTestPayload = builder.objectRef<{ eventId: string; deliveryId: string }>('SendTestWebhookPayload').implement({
  description: 'The test event that was queued.',
  fields: (t) => ({
    eventId: t.exposeID('eventId', { description: 'The event.' }),
    deliveryId: t.exposeID('deliveryId', { description: 'Its delivery.' }),
  }),
});

const ReplayFailedPayload = builder
  .objectRef<{ id: string; replayed: number }>('WebhookEndpointReplayFailedPayload')
  .implement({
    description: 'The result of `webhookEndpointReplayFailed`.',
    fields: (t) => ({
      endpoint: t.prismaField({
        type: Endpoint,
        description: 'The endpoint.',
        resolve: (query, { id }, _args, context) => getEndpoint(callerProject(context), id, query),
      }),
      replayed: t.exposeInt('replayed', { description: 'Number of deliveries that were queued again.' }),
    }),
  });

/** A payload with an endpoint and its signing secret. */
const secretPayload = (name: string, mutation: string) =>
  builder.objectRef<{ id: string; secret: string }>(name).implement({
    description: `What \`${mutation}\` did.`,
    fields: (t) => ({
      endpoint: t.prismaField({
        type: Endpoint,
        description: 'The endpoint.',
        resolve: (query, { id }, _args, context) => getEndpoint(callerProject(context), id, query),
      }),
      secret: t.exposeString('secret', { description: 'The signing secret; it starts with `whsec_`.', ...SECRET }),
    }),
  });
const RevealSecretPayload = secretPayload('WebhookEndpointRevealSecretPayload', 'webhookEndpointRevealSecret');
const RotateSecretPayload = secretPayload('WebhookEndpointRotateSecretPayload', 'webhookEndpointRotateSecret');

const Backlog = builder.enumType('WebhookBacklog', {
  description: 'What happens to deliveries that waited while an endpoint was disabled.',
  values: {
    deliver: { description: 'They are delivered now.' },
    drop: { description: 'They fail without another attempt.' },
  },
});

builder.mutationFields((t) => ({
  createWebhookEndpoint: t.field({
    type: CreateEndpointPayload,
    description: 'Registers a URL for events and creates its signing secret.',
    args: { input: t.arg({ type: CreateEndpointInput, required: true, description: 'The endpoint.' }) },
    resolve: (_root, { input }, context) => createEndpoint(callerProject(context), input),
  }),
  updateWebhookEndpoint: t.prismaField({
    type: Endpoint,
    description: 'Changes the URL, event types or description of an endpoint.',
    args: {
      id: t.arg.id({ required: true, description: idArg }),
      input: t.arg({ type: UpdateEndpointInput, required: true, description: 'What to change.' }),
    },
    resolve: async (query, _root, { id, input }, context) => {
      await updateEndpoint(callerProject(context), id, input);
      return getEndpoint(callerProject(context), id, query);
    },
  }),
  webhookEndpointReplayFailed: t.field({
    type: ReplayFailedPayload,
    ...replacesMutation('replayFailedWebhookDeliveries'),
    description: 'Replays deliveries to an endpoint that failed since a time, each of them once.',
    args: {
      id: t.arg.id({ required: true, description: idArg }),
      since: t.arg({
        type: 'DateTime',
        required: true,
        description: 'Replay deliveries that failed at this time or later.',
      }),
    },
    resolve: async (_root, { id, since }, context) => ({
      id,
      replayed: await replayFailed(callerProject(context), id, since),
    }),
  }),
  replayFailedWebhookDeliveries: t.int({
    deprecationReason: useInstead('webhookEndpointReplayFailed'),
    description: 'Replays deliveries to an endpoint that failed since a time, each of them once; returns their number.',
    args: {
      id: t.arg.id({ required: true, description: idArg }),
      since: t.arg({
        type: 'DateTime',
        required: true,
        description: 'Replay deliveries that failed at this time or later.',
      }),
    },
    resolve: (_root, { id, since }, context) => replayFailed(callerProject(context), id, since),
  }),
  sendTestWebhook: t.field({
    type: SendTestPayload,
    description: 'Queues a `webhook.test` event for one endpoint, regardless of its subscriptions.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: (_root, { id }, context) => sendTestEvent(callerProject(context), id),
  }),
  enableWebhookEndpoint: t.prismaField({
    type: Endpoint,
    authScopes: (_root, _args, context) => byKeysAndManagers(context),
    description: 'Enables an endpoint. `forbidden` for an API key if the endpoint was disabled automatically.',
    args: {
      id: t.arg.id({ required: true, description: idArg }),
      backlog: t.arg({
        type: Backlog,
        defaultValue: 'deliver',
        description: 'What happens to waiting deliveries.',
      }),
    },
    resolve: async (query, _root, { id, backlog }, context) => {
      const byKey = authenticated(context).kind === 'key';
      await enableEndpoint(callerProject(context), id, { backlog: backlog ?? 'deliver', byKey });
      return getEndpoint(callerProject(context), id, query);
    },
  }),
  disableWebhookEndpoint: t.prismaField({
    type: Endpoint,
    authScopes: (_root, _args, context) => byKeysAndManagers(context),
    description: 'Disables an endpoint; its waiting deliveries are kept.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: async (query, _root, { id }, context) => {
      const byKey = authenticated(context).kind === 'key';
      await disableEndpoint(callerProject(context), id, byKey ? 'Disabled by an API key.' : 'Disabled by hand.');
      return getEndpoint(callerProject(context), id, query);
    },
  }),
  webhookEndpointRevealSecret: t.field({
    type: RevealSecretPayload,
    ...managersOnly,
    ...replacesMutation('revealWebhookSecret'),
    description: 'Returns the signing secret again. For signed-in users, never for an API key.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: async (_root, { id }, context) => ({ id, secret: await revealSecret(callerProject(context), id) }),
  }),
  revealWebhookSecret: t.string({
    deprecationReason: useInstead('webhookEndpointRevealSecret'),
    ...managersOnly,
    description: 'Returns the signing secret again. For signed-in users, never for an API key.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: (_root, { id }, context) => revealSecret(callerProject(context), id),
  }),
  webhookEndpointRotateSecret: t.field({
    type: RotateSecretPayload,
    ...managersOnly,
    ...replacesMutation('rotateWebhookSecret'),
    description:
      'Creates a new signing secret. For 24 hours the previous one signs `X-Webhook-Signature-Previous`. For signed-in users, never for an API key.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: async (_root, { id }, context) => ({ id, secret: await rotateSecret(callerProject(context), id) }),
  }),
  rotateWebhookSecret: t.string({
    deprecationReason: useInstead('webhookEndpointRotateSecret'),
    ...managersOnly,
    description:
      'Creates a new signing secret. For 24 hours the previous one signs `X-Webhook-Signature-Previous`. For signed-in users, never for an API key.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: (_root, { id }, context) => rotateSecret(callerProject(context), id),
  }),
}));

removalMutation('webhookEndpointDelete', {
  replaces: 'deleteWebhookEndpoint',
  description: 'Deletes an endpoint and its deliveries.',
  id: 'Endpoint id.',
  remove: (context, id) => deleteEndpoint(callerProject(context), id),
});
