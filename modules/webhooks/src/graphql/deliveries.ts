import {
  batchLoader,
  builder,
  callerProject,
  type Context,
  db,
  jsonSchema,
  Node,
  registerNode,
  rowsQuery,
  workflowUrl,
  relayNames,
  atMost,
} from '@postroom/platform';
import { bodiesOf, getDelivery, giveUpDelivery, listDeliveries, replayDelivery, retryDelivery } from '../deliveries.ts';
import { EVENT_TYPE_NAMES, MAX_TYPE_LENGTH } from '@postroom/events';
import { watchDeliveries } from '../subscription.ts';

const loadBody = batchLoader((_: Context, eventIds) => bodiesOf(eventIds));

const DeliveryState = builder.enumType('DeliveryState', {
  description: 'State of a delivery.',
  values: {
    queued: { description: 'No attempt has been made yet.' },
    retried: { description: 'At least one attempt was not acknowledged, and another will be made.' },
    acknowledged: { description: 'The receiver returned a 2xx status.' },
    failed: { description: 'Six attempts were not acknowledged, or it was canceled.' },
  },
});

export const Delivery = builder.prismaObject('Delivery', {
  name: 'WebhookDelivery',
  interfaces: [Node],
  description: 'One event to one endpoint.',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Delivery id; its workflow in Temporal has the same.' }),
    endpointId: t.exposeID('endpointId', { description: 'The endpoint it goes to.' }),
    eventId: t.exposeID('eventId', { description: 'The event that it delivers.' }),
    eventType: t.string({
      description: 'The type of that event.',
      ...atMost(MAX_TYPE_LENGTH),
      select: { event: { select: { type: true } } },
      resolve: ({ event }) => event.type,
    }),
    state: t.expose('state', { type: DeliveryState, description: 'Its state.' }),
    attemptCount: t.exposeInt('attemptCount', { description: 'Attempts made so far.' }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the next attempt is due; null if there is none.',
    }),
    replayOf: t.exposeID('replayOf', { nullable: true, description: 'The delivery that this one repeats.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was queued.' }),
    closedAt: t.expose('closedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was acknowledged or failed.',
    }),
    body: t.string({
      description: 'The posted body, with the same bytes on each attempt.',
      select: { eventId: true },
      resolve: async ({ eventId }, _args, context) => (await loadBody(context, eventId)) ?? '',
    }),
    workflowId: t.exposeID('workflowId', {
      nullable: true,
      description:
        'Its workflow in Temporal: its own, or `batch_…` if its latest attempt was made in a batch, whose result names the deliveries that were not acknowledged. Null while it waits outside of a workflow.',
    }),
    workflowUrl: t.string({
      nullable: true,
      description:
        'Its workflow in the Temporal UI; null before it has one, or if the URL of the UI is not configured.',
      select: { workflowId: true },
      resolve: ({ workflowId }) => (workflowId === null ? undefined : workflowUrl(workflowId)),
    }),
    endpoint: t.relation('endpoint', { description: 'The endpoint it goes to.' }),
    event: t.relation('event', { description: 'The event that it delivers.' }),
    attempts: t.relation('attempts', {
      description: 'Its attempts, oldest first.',
      query: { orderBy: { number: 'asc' } },
    }),
  }),
});

registerNode(
  'dlv',
  'WebhookDelivery',
  (context, ids) => db.delivery.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
  'read',
  {
    select: `SELECT d.id, e.type AS name FROM deliveries d LEFT JOIN events e ON e.id = d.event_id
      WHERE d.id = ANY ($1::text[]) AND d.project_id = $2`,
  },
);

builder.queryFields((t) => ({
  webhookDelivery: t.prismaField({
    type: Delivery,
    description: 'A delivery of the project; `not_found` if it does not exist.',
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
        eventType: t.arg.string({
          description: 'Only those of events of this type.',
          ...jsonSchema({ enum: EVENT_TYPE_NAMES }),
        }),
      },
      resolve: (_root, args, context, info) =>
        listDeliveries(callerProject(context), args, args, rowsQuery(context, info)),
    },
    ...relayNames('WebhookDelivery'),
  ),
}));

builder.subscriptionField('webhookDeliveryAttempted', (t) =>
  t.field({
    type: Delivery,
    description:
      "The project's deliveries, each time one has been attempted; at high volume, only the latest. On reconnecting, pass the time of the last one seen.",
    args: {
      endpointId: t.arg.id({ description: 'Only those to this endpoint.' }),
      since: t.arg({
        type: 'DateTime',
        description: 'Start with the current state of deliveries attempted since then; some may be repeated.',
      }),
    },
    subscribe: (_root, args, context) => watchDeliveries(callerProject(context), args),
    resolve: (delivery) => delivery,
  }),
);

const payload = (name: string, mutation: string) =>
  builder.objectRef<{ id: string }>(name).implement({
    description: `The result of \`${mutation}\`.`,
    fields: (t) => ({
      delivery: t.prismaField({
        type: Delivery,
        description: 'The current delivery.',
        resolve: (query, { id }, _args, context) => getDelivery(callerProject(context), id, query),
      }),
    }),
  });

const RetryPayload = payload('WebhookDeliveryRetryPayload', 'webhookDeliveryRetry');
const GiveUpPayload = payload('WebhookDeliveryGiveUpPayload', 'webhookDeliveryGiveUp');

builder.mutationFields((t) => ({
  webhookDeliveryRetry: t.field({
    type: RetryPayload,
    description:
      'Makes the next attempt now instead of when it is due. `conflict` unless the delivery is waiting for another attempt.',
    args: { id: t.arg.id({ required: true, description: 'A delivery in state `retried`.' }) },
    resolve: async (_root, { id }, context) => {
      await retryDelivery(callerProject(context), id);
      return { id };
    },
  }),
  webhookDeliveryGiveUp: t.field({
    type: GiveUpPayload,
    description:
      'Makes no further attempt; the delivery becomes `failed` within seconds and can be replayed. `conflict` unless it is waiting for another attempt.',
    args: { id: t.arg.id({ required: true, description: 'A delivery in state `retried`.' }) },
    resolve: async (_root, { id }, context) => {
      await giveUpDelivery(callerProject(context), id);
      return { id };
    },
  }),
  replayWebhookDelivery: t.prismaField({
    type: Delivery,
    description: 'Delivers an event again, as a new delivery with the same body.',
    args: { id: t.arg.id({ required: true, description: 'An acknowledged or failed delivery.' }) },
    resolve: async (query, _root, { id }, context) => {
      const replay = await replayDelivery(callerProject(context), id);
      return getDelivery(callerProject(context), replay, query);
    },
  }),
}));
