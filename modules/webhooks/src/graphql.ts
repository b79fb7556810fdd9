import {
  authenticated,
  batchLoader,
  builder,
  callerProject,
  type Context,
  db,
  JSON_OBJECT,
  jsonSchema,
  NOT_EMPTY,
  Node,
  registerNode,
  rowsQuery,
  succeeds,
  useInstead,
  workflowUrl,
  relayNames,
  removalMutation,
} from '@postroom/platform';
import {
  bodiesOf,
  getDelivery,
  listDeliveries,
  replayDelivery,
  replayFailed,
  retryDelivery,
  sendTestEvent,
} from './deliveries.ts';
import {
  createEndpoint,
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
  getEndpoint,
  listEndpoints,
  revealSecret,
  rotateSecret,
  updateEndpoint,
} from './endpoints.ts';
import { type RecordedAttempt, streamAttempts } from './attempt-stream.ts';
import { currentCursor, type RecordedEvent, streamEvents } from './event-stream.ts';
import { watchDeliveries } from './subscription.ts';
import { type DeliveryStats, deliveryStats } from './delivery-stats.ts';
import { ALL_EVENTS, bodySchema, EVENT_TYPE_NAMES, EVENT_TYPES, type EventTypeName } from './event-types.ts';

const Recent = builder.objectRef<DeliveryStats>('RecentDeliveries').implement({
  description: 'Outcomes of the latest deliveries to an endpoint: the last 24 hours, at most 5,000.',
  fields: (t) => ({
    acknowledged: t.exposeInt('acknowledged', { description: 'Answered with a 2xx status.' }),
    retried: t.exposeInt('retried', { description: 'Not acknowledged yet, and tried again.' }),
    failed: t.exposeInt('failed', { description: 'Given up.' }),
    queued: t.exposeInt('queued', { description: 'Not attempted yet.' }),
    more: t.exposeBoolean('more', { description: 'Whether there were more than are looked at.' }),
    medianMs: t.exposeInt('medianMs', {
      nullable: true,
      description: 'How long half of the attempts took at most, in milliseconds; null when there were none.',
    }),
    p95Ms: t.exposeInt('p95Ms', { nullable: true, description: 'How long 95 of a hundred attempts took at most.' }),
  }),
});

const loadRecent = batchLoader((_: Context, ids) => deliveryStats(ids));
const loadBody = batchLoader((_: Context, eventIds) => bodiesOf(eventIds));

const Endpoint = builder.prismaObject('WebhookEndpoint', {
  interfaces: [Node],
  description: "A customer's URL that events are posted to. Its signing secret is shown once, when it is created.",
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Endpoint id.' }),
    url: t.exposeString('url', { description: 'Where events are posted to.' }),
    description: t.exposeString('description', { nullable: true, description: 'What it is for.' }),
    events: t.exposeStringList('events', {
      description: 'Event types, or `["*"]` for all, those added later included.',
    }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether events go to it.' }),
    disabledAt: t.expose('disabledAt', { type: 'DateTime', nullable: true, description: 'When it was disabled.' }),
    disabledReason: t.exposeString('disabledReason', { nullable: true, description: 'Why it was disabled, in words.' }),
    disabledAutomatically: t.exposeBoolean('disabledAutomatically', {
      description:
        'Whether it was disabled because its deliveries kept failing. Then only a signed-in user can enable it.',
    }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when no attempt has been acknowledged; null when the last one was.',
    }),
    previousSecretExpiresAt: t.expose('previousSecretExpiresAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'Until when the secret before the last rotation signs `X-Webhook-Signature-Previous`; null when there is none.',
    }),
    recent: t.field({
      type: Recent,
      description: 'How it did in the last 24 hours.',
      complexity: 20,
      resolve: async ({ id }, _args, context) => (await loadRecent(context, id)) as DeliveryStats,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

const DeliveryState = builder.enumType('DeliveryState', {
  description: 'Where a delivery stands.',
  values: {
    queued: { description: 'No attempt has been made yet.' },
    retried: { description: 'At least one attempt was not acknowledged, and another will be made.' },
    acknowledged: { description: 'The receiver answered with a 2xx status.' },
    failed: { description: 'Six attempts were not acknowledged, or it was given up.' },
  },
});

builder.prismaObject('Attempt', {
  name: 'DeliveryAttempt',
  description: 'One POST of a delivery, and its answer.',
  fields: (t) => ({
    number: t.exposeInt('number', { description: '1 to 6.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it began.' }),
    durationMs: t.exposeInt('durationMs', { description: 'How long it took, in milliseconds.' }),
    status: t.exposeInt('status', { nullable: true, description: 'The HTTP status; null when none arrived.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why there was no complete answer, in words.' }),
    response: t.exposeString('response', { nullable: true, description: "The first 4 KB of the answer's body." }),
    headers: t.expose('headers', { type: 'JSON', description: 'The headers that were sent.', ...JSON_OBJECT }),
  }),
});

builder.prismaObject('Event', {
  name: 'WebhookEvent',
  interfaces: [Node],
  select: { id: true },
  description: 'What a delivery carries: the body that is posted, in parts.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Event id: what receivers deduplicate on.' }),
    type: t.exposeString('type', { description: 'Event type.' }),
    created: t.expose('createdAt', { type: 'DateTime', description: 'When it happened.' }),
    data: t.expose('data', { type: 'JSON', description: 'Its members; which, depends on the type.', ...JSON_OBJECT }),
  }),
});

const Delivery = builder.prismaObject('Delivery', {
  name: 'WebhookDelivery',
  interfaces: [Node],
  description: 'One event to one endpoint.',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Delivery id; its workflow in Temporal has the same.' }),
    endpointId: t.exposeID('endpointId', { description: 'The endpoint it goes to.' }),
    eventId: t.exposeID('eventId', { description: 'The event it carries.' }),
    eventType: t.string({
      description: 'The type of that event.',
      select: { event: { select: { type: true } } },
      resolve: ({ event }) => event.type,
    }),
    state: t.expose('state', { type: DeliveryState, description: 'Where it stands.' }),
    attemptCount: t.exposeInt('attemptCount', { description: 'Attempts made so far.' }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the next attempt is due; null when none is.',
    }),
    replayOf: t.exposeID('replayOf', { nullable: true, description: 'The delivery that this one repeats.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was queued.' }),
    closedAt: t.expose('closedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was acknowledged or failed.',
    }),
    body: t.string({
      description: 'The body that is posted, the same bytes each time.',
      select: { eventId: true },
      resolve: async ({ eventId }, _args, context) => (await loadBody(context, eventId)) ?? '',
    }),
    workflowUrl: t.string({
      nullable: true,
      description:
        'Its workflow in the Temporal UI; null before it has one, or if the address of the UI is not configured.',
      select: { workflowId: true },
      resolve: ({ workflowId }) => (workflowId === null ? undefined : workflowUrl(workflowId)),
    }),
    endpoint: t.relation('endpoint', { description: 'The endpoint it goes to.' }),
    event: t.relation('event', { description: 'The event it carries.' }),
    attempts: t.relation('attempts', {
      description: 'Its attempts, first one first.',
      query: { orderBy: { number: 'asc' } },
    }),
  }),
});

registerNode('whe', 'WebhookEndpoint', (context, ids) =>
  db.webhookEndpoint.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
);
registerNode('evt', 'WebhookEvent', (context, ids) =>
  db.event.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
);
registerNode('dlv', 'WebhookDelivery', (context, ids) =>
  db.delivery.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
);

const EventTypeInfo = builder.objectRef<EventTypeName>('WebhookEventType').implement({
  description: 'A kind of event, and what its bodies look like.',
  fields: (t) => ({
    name: t.string({ description: 'Such as `contact.created`.', resolve: (type) => type }),
    fires: t.string({ description: 'When it fires.', resolve: (type) => EVENT_TYPES[type].fires }),
    schema: t.field({
      type: 'JSON',
      description: 'JSON Schema of the body that is posted.',
      resolve: (type) => bodySchema(type),
    }),
    example: t.field({
      type: 'JSON',
      description: 'An example of `data`.',
      resolve: (type) => EVENT_TYPES[type].example,
    }),
  }),
});

const idArg = 'Endpoint id.';

/** Full-scope keys, and users who manage the project. */
const byKeysAndManagers = (context: Context) =>
  authenticated(context).kind === 'key' ? { write: true } : { manage: true };

builder.queryFields((t) => ({
  webhookEndpoint: t.prismaField({
    type: Endpoint,
    description: 'A webhook endpoint of the project; `not_found` when there is none.',
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
  webhookDelivery: t.prismaField({
    type: Delivery,
    description: 'A delivery of the project; `not_found` when there is none.',
    args: { id: t.arg.id({ required: true, description: 'Delivery id.' }) },
    resolve: (query, _root, { id }, context) => getDelivery(callerProject(context), id, query),
  }),
  webhookDeliveries: t.connection(
    {
      type: Delivery,
      description: "The project's deliveries, newest first.",
      args: {
        endpointId: t.arg.id({ description: 'Only those to this endpoint.' }),
        state: t.arg({ type: DeliveryState, description: 'Only those in this state.' }),
        eventId: t.arg.id({ description: 'Only those of this event.' }),
        eventType: t.arg.string({ description: 'Only those of events of this type.' }),
      },
      resolve: (_root, args, context, info) =>
        listDeliveries(callerProject(context), args, args, rowsQuery(context, info)),
    },
    ...relayNames('WebhookDelivery'),
  ),
  webhookEventTypes: t.field({
    type: [EventTypeInfo],
    description: 'Every event type there is.',
    resolve: () => EVENT_TYPE_NAMES,
  }),
}));

builder.subscriptionField('webhookDeliveryAttempted', (t) =>
  t.field({
    type: Delivery,
    description:
      "The project's deliveries, each time one has been attempted; in a burst, the latest of them. Who reconnects gives the time of the last one seen.",
    args: {
      endpointId: t.arg.id({ description: 'Only those to this endpoint.' }),
      since: t.arg({
        type: 'DateTime',
        description: 'Begins with what was attempted from then on, as it is now; some of it may have been seen before.',
      }),
    },
    subscribe: (_root, args, context) => watchDeliveries(callerProject(context), args),
    resolve: (delivery) => delivery,
  }),
);

const RecordedAttemptRef = builder.objectRef<RecordedAttempt>('RecordedAttempt').implement({
  description: 'An attempt of a delivery, in the stream of all of them.',
  fields: (t) => ({
    attempt: t.prismaField({
      type: 'Attempt',
      nullable: true,
      description: 'The attempt; null when its endpoint has just been deleted.',
      resolve: (query, { deliveryId, number }) =>
        db.attempt.findUnique({ ...query, where: { deliveryId_number: { deliveryId, number } } }),
    }),
    delivery: t.prismaField({
      type: Delivery,
      nullable: true,
      description: 'Its delivery as it is now; null when its endpoint has just been deleted.',
      resolve: (query, { deliveryId }) => db.delivery.findUnique({ ...query, where: { id: deliveryId } }),
    }),
    cursor: t.exposeString('cursor', {
      description: 'Given as `after`, the stream goes on behind this attempt, at any gateway.',
    }),
  }),
});

builder.subscriptionField('webhookAttemptRecorded', (t) =>
  t.field({
    type: RecordedAttemptRef,
    description:
      'Every attempt of a delivery, as it is recorded. None is left out and none comes twice; who reconnects gives the last cursor.',
    args: {
      endpointId: t.arg.id({ description: 'Only those to this endpoint.' }),
      after: t.arg.string({
        description:
          'Begins behind the attempt with this cursor, or where an `eventCursor` stood; without one, with what is recorded from now on.',
      }),
    },
    subscribe: (_root, args, context) => streamAttempts(callerProject(context), args),
    resolve: (attempt) => attempt,
  }),
);

const Recorded = builder.objectRef<RecordedEvent>('RecordedEvent').implement({
  description: 'An event of the project, in the stream of all of them.',
  fields: (t) => ({
    eventId: t.exposeID('id', { description: 'Event id, the same as webhooks carry.' }),
    id: t.exposeID('id', {
      description: 'Event id, the same as webhooks carry.',
      deprecationReason: 'Use RecordedEvent.eventId.',
    }),
    type: t.exposeString('type', { description: 'Event type.' }),
    created: t.expose('createdAt', { type: 'DateTime', description: 'When it happened.' }),
    data: t.expose('data', { type: 'JSON', description: 'Its members; which, depends on the type.', ...JSON_OBJECT }),
    cursor: t.exposeString('cursor', {
      description: 'Given as `after`, the stream goes on behind this event, at any gateway.',
    }),
  }),
});

builder.queryField('eventCursor', (t) =>
  t.string({
    description:
      'Where the streams of events and of attempts stand: given as `after`, what is committed from now on follows.',
    resolve: () => currentCursor(),
  }),
);

builder.subscriptionField('eventRecorded', (t) =>
  t.field({
    type: Recorded,
    description:
      "The project's events as they are committed. None is left out and none comes twice; who reconnects gives the last cursor.",
    args: {
      after: t.arg.string({
        description: 'Begins behind the event with this cursor; without one, with what is committed from now on.',
      }),
      types: t.arg.stringList({
        description: 'Only events of these types; all when left out.',
        ...jsonSchema({ minItems: 1, items: { type: 'string', enum: [...EVENT_TYPE_NAMES] } }),
      }),
    },
    subscribe: (_root, args, context) => streamEvents(callerProject(context), args),
    resolve: (event) => event,
  }),
);

const SUBSCRIBED = jsonSchema({ minItems: 1, items: { type: 'string', enum: [...EVENT_TYPE_NAMES, ALL_EVENTS] } });

const URL_OF_ENDPOINT = jsonSchema({ minLength: 1, maxLength: 2048, pattern: '^https?://' });

const CreateEndpointInput = builder.inputType('CreateWebhookEndpointInput', {
  description: 'A new webhook endpoint.',
  fields: (t) => ({
    url: t.string({
      required: true,
      description: 'An HTTPS URL that is reachable from the Internet.',
      ...URL_OF_ENDPOINT,
    }),
    events: t.stringList({
      required: true,
      description: 'Event types, or `["*"]` for all current and future types.',
      ...SUBSCRIBED,
    }),
    description: t.string({
      description: 'What it is for; at most 500 characters.',
      ...jsonSchema({ maxLength: 500 }),
    }),
  }),
});

const UpdateEndpointInput = builder.inputType('UpdateWebhookEndpointInput', {
  ...NOT_EMPTY,
  description: 'What to change; what is not given stays.',
  fields: (t) => ({
    url: t.string({ description: 'An HTTPS URL that is reachable from the Internet.', ...URL_OF_ENDPOINT }),
    events: t.stringList({ description: 'Event types, or `["*"]`; replaces those before.', ...SUBSCRIBED }),
    description: t.string({
      description: 'What it is for; at most 500 characters. An empty text removes it.',
      ...jsonSchema({ maxLength: 500 }),
    }),
  }),
});

const CreateEndpointPayload = builder
  .objectRef<{ id: string; secret: string }>('CreateWebhookEndpointPayload')
  .implement({
    description: 'A new endpoint with its signing secret, which is shown this once.',
    fields: (t) => ({
      endpoint: t.prismaField({
        type: Endpoint,
        description: 'The endpoint.',
        resolve: (query, { id }) => db.webhookEndpoint.findUniqueOrThrow({ ...query, where: { id } }),
      }),
      secret: t.exposeString('secret', { description: 'What signatures are keyed by; it starts with `whsec_`.' }),
    }),
  });

const SendTestPayload = builder.objectRef<{ eventId: string; deliveryId: string }>('SendTestWebhookPayload').implement({
  description: 'The test event that was queued.',
  fields: (t) => ({
    eventId: t.exposeID('eventId', { description: 'The event.' }),
    deliveryId: t.exposeID('deliveryId', { description: 'Its delivery.' }),
  }),
});

const RetryPayload = builder.objectRef<{ id: string }>('WebhookDeliveryRetryPayload').implement({
  description: 'What `webhookDeliveryRetry` did.',
  fields: (t) => ({
    delivery: t.prismaField({
      type: Delivery,
      description: 'The delivery, as it is now.',
      resolve: (query, { id }, _args, context) => getDelivery(callerProject(context), id, query),
    }),
  }),
});

const ReplayFailedPayload = builder
  .objectRef<{ id: string; replayed: number }>('WebhookEndpointReplayFailedPayload')
  .implement({
    description: 'What `webhookEndpointReplayFailed` did.',
    fields: (t) => ({
      endpoint: t.prismaField({
        type: Endpoint,
        description: 'The endpoint.',
        resolve: (query, { id }, _args, context) => getEndpoint(callerProject(context), id, query),
      }),
      replayed: t.exposeInt('replayed', { description: 'How many deliveries were queued again.' }),
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
      secret: t.exposeString('secret', { description: 'What signatures are keyed by; it starts with `whsec_`.' }),
    }),
  });
const RevealSecretPayload = secretPayload('WebhookEndpointRevealSecretPayload', 'webhookEndpointRevealSecret');
const RotateSecretPayload = secretPayload('WebhookEndpointRotateSecretPayload', 'webhookEndpointRotateSecret');

const Backlog = builder.enumType('WebhookBacklog', {
  description: 'What happens to deliveries that waited while an endpoint was disabled.',
  values: {
    deliver: { description: 'They are delivered now.' },
    drop: { description: 'They are failed without another attempt.' },
  },
});

builder.mutationFields((t) => ({
  createWebhookEndpoint: t.field({
    type: CreateEndpointPayload,
    description: 'Registers a URL for events and makes its signing secret.',
    args: { input: t.arg({ type: CreateEndpointInput, required: true, description: 'The endpoint.' }) },
    resolve: (_root, { input }, context) => createEndpoint(callerProject(context), input),
  }),
  updateWebhookEndpoint: t.prismaField({
    type: Endpoint,
    description: 'Changes where events go or which.',
    args: {
      id: t.arg.id({ required: true, description: idArg }),
      input: t.arg({ type: UpdateEndpointInput, required: true, description: 'What to change.' }),
    },
    resolve: async (query, _root, { id, input }, context) => {
      await updateEndpoint(callerProject(context), id, input);
      return getEndpoint(callerProject(context), id, query);
    },
  }),
  webhookDeliveryRetry: t.field({
    type: RetryPayload,
    description:
      'Makes the next attempt of a delivery now instead of when it is due. `conflict` unless it waits for another attempt.',
    args: { id: t.arg.id({ required: true, description: 'A delivery in state `retried`.' }) },
    resolve: async (_root, { id }, context) => {
      await retryDelivery(callerProject(context), id);
      return { id };
    },
  }),
  replayWebhookDelivery: t.prismaField({
    type: Delivery,
    description: 'Delivers an event again, as a new delivery with the same body.',
    args: { id: t.arg.id({ required: true, description: 'A delivery that is acknowledged or failed.' }) },
    resolve: async (query, _root, { id }, context) => {
      const replay = await replayDelivery(callerProject(context), id);
      return getDelivery(callerProject(context), replay, query);
    },
  }),
  webhookEndpointReplayFailed: t.field({
    type: ReplayFailedPayload,
    ...succeeds('replayFailedWebhookDeliveries'),
    description: 'Delivers again what failed at an endpoint since a time, each delivery once.',
    args: {
      id: t.arg.id({ required: true, description: idArg }),
      since: t.arg({ type: 'DateTime', required: true, description: 'Those that failed at this time or later.' }),
    },
    resolve: async (_root, { id, since }, context) => ({
      id,
      replayed: await replayFailed(callerProject(context), id, since),
    }),
  }),
  replayFailedWebhookDeliveries: t.int({
    deprecationReason: useInstead('webhookEndpointReplayFailed'),
    description: 'Delivers again what failed at an endpoint since a time; returns how many. Each is replayed once.',
    args: {
      id: t.arg.id({ required: true, description: idArg }),
      since: t.arg({ type: 'DateTime', required: true, description: 'Those that failed at this time or later.' }),
    },
    resolve: (_root, { id, since }, context) => replayFailed(callerProject(context), id, since),
  }),
  sendTestWebhook: t.field({
    type: SendTestPayload,
    description: 'Queues a `webhook.test` event for one endpoint, whatever types it wants.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: (_root, { id }, context) => sendTestEvent(callerProject(context), id),
  }),
  enableWebhookEndpoint: t.prismaField({
    type: Endpoint,
    authScopes: (_root, _args, context) => byKeysAndManagers(context),
    description:
      'Sends events to an endpoint again. `forbidden` for an API key if the endpoint was disabled automatically.',
    args: {
      id: t.arg.id({ required: true, description: idArg }),
      backlog: t.arg({
        type: Backlog,
        defaultValue: 'deliver',
        description: 'What happens to deliveries that waited.',
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
    description: 'Stops deliveries to an endpoint and keeps those that wait.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: async (query, _root, { id }, context) => {
      const byKey = authenticated(context).kind === 'key';
      await disableEndpoint(callerProject(context), id, byKey ? 'Disabled by an API key.' : 'Disabled by hand.');
      return getEndpoint(callerProject(context), id, query);
    },
  }),
  webhookEndpointRevealSecret: t.field({
    type: RevealSecretPayload,
    authScopes: { manage: true },
    ...succeeds('revealWebhookSecret'),
    description: 'Shows the signing secret again. For signed-in users, never for an API key.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: async (_root, { id }, context) => ({ id, secret: await revealSecret(callerProject(context), id) }),
  }),
  revealWebhookSecret: t.string({
    deprecationReason: useInstead('webhookEndpointRevealSecret'),
    authScopes: { manage: true },
    description: 'Shows the signing secret once more. For signed-in users, never for an API key.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: (_root, { id }, context) => revealSecret(callerProject(context), id),
  }),
  webhookEndpointRotateSecret: t.field({
    type: RotateSecretPayload,
    authScopes: { manage: true },
    ...succeeds('rotateWebhookSecret'),
    description:
      'Makes a new signing secret. For 24 hours the previous one signs `X-Webhook-Signature-Previous`. For signed-in users, never for an API key.',
    args: { id: t.arg.id({ required: true, description: idArg }) },
    resolve: async (_root, { id }, context) => ({ id, secret: await rotateSecret(callerProject(context), id) }),
  }),
  rotateWebhookSecret: t.string({
    deprecationReason: useInstead('webhookEndpointRotateSecret'),
    authScopes: { manage: true },
    description:
      'Makes a new signing secret. For 24 hours the old one signs `X-Webhook-Signature-Previous`. For signed-in users, never for an API key.',
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
