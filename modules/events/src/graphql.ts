import { builder, callerProject, db, JSON_OBJECT, jsonSchema, Node, registerNode, atMost } from '@postroom/platform';
import { currentCursor, type RecordedEvent, streamEvents } from './event-stream.ts';
import { bodySchema, EVENT_TYPE_NAMES, EVENT_TYPES, type EventTypeName, MAX_TYPE_LENGTH } from './event-types.ts';

builder.prismaObject('Event', {
  name: 'WebhookEvent',
  interfaces: [Node],
  select: { id: true },
  description: 'An event: the members of the posted body.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Event id; receivers use it to deduplicate.' }),
    type: t.exposeString('type', { description: 'Event type.', ...atMost(MAX_TYPE_LENGTH) }),
    created: t.expose('createdAt', { type: 'DateTime', description: 'When it happened.' }),
    data: t.expose('data', {
      type: 'JSON',
      description: 'The data, whose members depend on the type.',
      ...JSON_OBJECT,
    }),
  }),
});

registerNode('evt', 'WebhookEvent', (context, ids) =>
  db.event.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
);

const EventTypeInfo = builder.objectRef<EventTypeName>('WebhookEventType').implement({
  description: 'An event type and the schema of its body.',
  fields: (t) => ({
    name: t.string({ description: 'Such as `contact.created`.', resolve: (type) => type }),
    fires: t.string({ description: 'When it fires.', resolve: (type) => EVENT_TYPES[type].fires }),
    schema: t.field({
      type: 'JSON',
      description: 'JSON Schema of the posted body.',
      resolve: (type) => bodySchema(type),
    }),
    example: t.field({
      type: 'JSON',
      description: 'An example of `data`.',
      resolve: (type) => EVENT_TYPES[type].example,
    }),
  }),
});

builder.queryFields((t) => ({
  webhookEventTypes: t.field({
    type: [EventTypeInfo],
    description: 'All event types.',
    resolve: () => EVENT_TYPE_NAMES,
  }),
}));

const Recorded = builder.objectRef<RecordedEvent>('RecordedEvent').implement({
  description: "An event in the project's event stream.",
  fields: (t) => ({
    eventId: t.exposeID('id', { description: 'Event id, the same as in webhooks.' }),
    id: t.exposeID('id', {
      description: 'Event id, the same as in webhooks.',
      deprecationReason: 'Use RecordedEvent.eventId.',
    }),
    type: t.exposeString('type', { description: 'Event type.', ...atMost(MAX_TYPE_LENGTH) }),
    created: t.expose('createdAt', { type: 'DateTime', description: 'When it happened.' }),
    data: t.expose('data', {
      type: 'JSON',
      description: 'The data, whose members depend on the type.',
      ...JSON_OBJECT,
    }),
    cursor: t.exposeString('cursor', {
      description: 'Pass it as `after` to continue the stream after this event, on any gateway.',
    }),
  }),
});

builder.queryField('eventCursor', (t) =>
  t.string({
    description:
      'The current position of the streams of events and attempts. Pass it as `after` to get everything that is committed from now on.',
    resolve: (_root, _args, context) => currentCursor(callerProject(context)),
  }),
);

builder.subscriptionField('eventRecorded', (t) =>
  t.field({
    type: Recorded,
    description:
      "The project's events as they are committed, without gaps or duplicates. To reconnect, pass the last cursor.",
    args: {
      after: t.arg.string({
        description: 'Starts after the event with this cursor; without it, with the next event that is committed.',
      }),
      types: t.arg.stringList({
        description: 'Only events of these types; all if omitted.',
        ...jsonSchema({ minItems: 1, items: { type: 'string', enum: [...EVENT_TYPE_NAMES] } }),
      }),
    },
    subscribe: (_root, args, context) => streamEvents(callerProject(context), args),
    resolve: (event) => event,
  }),
);
