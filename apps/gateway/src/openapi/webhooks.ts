import { bodySchema, EVENT_TYPE_NAMES, EVENT_TYPES, type EventTypeName } from '@postroom/webhooks';
import type { Components, Schema } from './schemas.ts';

/**
 * What is posted to a customer's endpoint (spec: Events): a callback of the operation that makes the endpoint. Of the
 * `webhooks` of OpenAPI 3.1, openapi-generator makes code that does not compile, and oapi-codegen forgets their schemas.
 */
export function eventCallbacks(components: Components): Schema {
  const names = EVENT_TYPE_NAMES.map((type): [string, string] => {
    const { $schema: _dialect, ...schema } = bodySchema(type);
    const { $ref } = components.named(eventName(type), { ...schema, description: EVENT_TYPES[type].fires });
    return [type, $ref as string];
  });
  const event = components.named('PostroomEvent', {
    oneOf: names.map(([, $ref]) => ({ $ref })),
    discriminator: { propertyName: 'type', mapping: Object.fromEntries(names) },
    description: 'What a webhook delivers. Types may be added later, so have a branch for those you do not know.',
  });
  const examples = EVENT_TYPE_NAMES.map((type) => [
    type,
    { value: { ...ENVELOPE, type, data: EVENT_TYPES[type].example } },
  ]);
  const content = { 'application/json': { schema: event, examples: Object.fromEntries(examples) } };
  const post = {
    operationId: 'onEvent',
    summary: 'An event',
    description: 'Something happened that the endpoint subscribes to.',
    security: [],
    parameters: HEADERS_OF_EVENTS,
    requestBody: { required: true, content },
    responses: {
      '2XX': { description: 'The delivery is acknowledged.' },
      '4XX': { description: 'The delivery failed, as with any other answer.' },
      default: {
        description:
          'The delivery failed and is retried after 1 m, 5 m, 30 m, 2 h and 6 h; so is one without an answer within 10 seconds.',
      },
    },
  };
  return { event: { '{$request.body#/url}': { post } } };
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

const HEADERS: { name: string; description: string; pattern?: string; required?: boolean }[] = [
  { name: 'X-Webhook-Id', description: 'Unique id of this delivery attempt: no two requests have the same.' },
  { name: 'X-Webhook-Event', description: 'Event type.' },
  { name: 'X-Webhook-Timestamp', description: 'Unix seconds at signing.', pattern: '^\\d+$' },
  {
    name: 'X-Webhook-Signature',
    description:
      '`t=<timestamp>,v1=<hex>`: HMAC-SHA256 of the timestamp, a dot and the raw body, keyed by the signing secret. Refuse timestamps more than 300 seconds away.',
    pattern: '^t=\\d+,v1=[0-9a-f]{64}$',
  },
  {
    name: 'X-Webhook-Signature-Previous',
    description: 'For 24 hours after the secret was rotated: what X-Webhook-Signature would be with the secret before.',
    pattern: '^t=\\d+,v1=[0-9a-f]{64}$',
    required: false,
  },
];

const HEADERS_OF_EVENTS = HEADERS.map(({ name, description, pattern, required = true }) => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string', ...(pattern === undefined ? {} : { pattern }) },
}));
