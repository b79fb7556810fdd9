import { bodySchema, EVENT_TYPE_NAMES, EVENT_TYPES, type EventTypeName } from '@postroom/webhooks';
import type { Components, Schema } from './schemas.ts';

/** What is posted to a customer's endpoint, one entry an event type (spec: Events). */
export function eventWebhooks(components: Components): Schema {
  return Object.fromEntries(EVENT_TYPE_NAMES.map((type) => [type, { post: eventPost(type, components) }]));
}

function eventPost(type: EventTypeName, components: Components): Schema {
  const { $schema: _dialect, ...schema } = bodySchema(type);
  const { fires, example } = EVENT_TYPES[type];
  const reference = components.named(eventName(type), schema);
  return {
    operationId: `on${eventName(type)}`,
    summary: type,
    description: fires,
    tags: ['Events'],
    security: [],
    parameters: HEADERS.map(({ name, description, pattern }) => ({
      name,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string', ...(pattern === undefined ? {} : { pattern }) },
    })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: reference, example: { ...ENVELOPE, type, data: example } } },
    },
    responses: {
      '2XX': { description: 'The delivery is acknowledged.' },
      default: {
        description:
          'The delivery failed and is retried after 1 m, 5 m, 30 m, 2 h and 6 h; so is one without an answer within 10 seconds.',
      },
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
