import { bodySchema, EVENT_TYPE_NAMES, EVENT_TYPES, type EventTypeName } from '@postroom/webhooks';
import type { Components, Schema } from './schemas.ts';

/** What is posted to a customer's endpoint, one entry an event type (spec: Events). */
export function eventWebhooks(components: Components): Schema {
  return Object.fromEntries(EVENT_TYPE_NAMES.map((type) => [type, { post: eventPost(type, components) }]));
}

/** The same where endpoints are made: most generators read no `webhooks`, and would leave out the events. */
export function eventCallbacks(components: Components): Schema {
  const names = EVENT_TYPE_NAMES.map((type): [string, string] => [type, `#/components/schemas/${eventName(type)}`]);
  const event = components.named('PostroomEvent', {
    oneOf: names.map(([, $ref]) => ({ $ref })),
    discriminator: { propertyName: 'type', mapping: Object.fromEntries(names) },
    description: 'What a webhook delivers. Types may be added later, so have a branch for those you do not know.',
  });
  // Its headers are those of `webhooks`: openapi-generator makes code that is none of the parameters of a callback.
  const post = {
    responses: eventReceived.responses,
    security: [],
    description: eventReceived.description,
    operationId: 'onEvent',
    summary: 'An event',
    requestBody: { required: true, content: { 'application/json': { schema: event } } },
  };
  return { event: { '{$request.body#/url}': { post } } };
}

function eventPost(type: EventTypeName, components: Components): Schema {
  const { $schema: _dialect, ...schema } = bodySchema(type);
  const { fires, example } = EVENT_TYPES[type];
  const reference = components.named(eventName(type), schema);
  return {
    ...eventReceived,
    operationId: `on${eventName(type)}`,
    summary: type,
    description: fires,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: reference, example: { ...ENVELOPE, type, data: example } } },
    },
  };
}

/** `contact.created` is `ContactCreatedEvent`. */
function eventName(type: EventTypeName): string {
  return `${type.replace(/(?:^|\.)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;
}

const ENVELOPE = {
  id: 'evt_01kaq2m5xbeqx9m3c0k7d1h2vt',
  created: '2026-11-21T09:30:00.000Z',
  project_id: 'prj_01kaq2m5xaf0x8y4qm9c1b7t3r',
};

const HEADERS = [
  { name: 'X-Webhook-Id', description: 'Unique id of this delivery attempt.' },
  { name: 'X-Webhook-Event', description: 'Event type.' },
  { name: 'X-Webhook-Timestamp', description: 'Unix seconds at signing.', pattern: '^\\d+$' },
  {
    name: 'X-Webhook-Signature',
    description:
      '`t=<timestamp>,v1=<hex>`: HMAC-SHA256 of the timestamp, a dot and the raw body, keyed by the signing secret. Several `v1=` while a secret is being rotated. Refuse timestamps more than 300 seconds away.',
    pattern: '^t=\\d+(,v1=[0-9a-f]{64})+$',
  },
];

/** What the posts of all events have in common. */
const eventReceived: Schema = {
  description: 'Something happened that the endpoint subscribes to.',
  tags: ['Events'],
  security: [],
  parameters: HEADERS.map(({ name, description, pattern }) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string', ...(pattern === undefined ? {} : { pattern }) },
  })),
  responses: {
    '2XX': { description: 'The delivery is acknowledged.' },
    '4XX': { description: 'The delivery failed, as with any other answer.' },
    default: {
      description:
        'The delivery failed and is retried after 1 m, 5 m, 30 m, 2 h and 6 h; so is one without an answer within 10 seconds.',
    },
  },
};
