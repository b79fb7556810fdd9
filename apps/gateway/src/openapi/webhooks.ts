import { MAX_ID_LENGTH } from '@postroom/platform';
import { bodySchema, EVENT_TYPE_NAMES, EVENT_TYPES, type EventTypeName, MAX_TYPE_LENGTH } from '@postroom/events';
import type { Components, Schema } from './schemas.ts';

/**
 * The events posted to a customer's endpoint (spec: Events), as a callback of the operation that creates the endpoint.
 * With OpenAPI 3.1 `webhooks`, openapi-generator generates code that does not compile, and oapi-codegen omits their
 * schemas.
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
    description: 'The body of a webhook. New types may be added, so handle unknown ones.',
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
      '4XX': { description: 'The delivery failed, as with any other response.' },
      default: {
        description:
          'The delivery failed and is retried after 1 m, 5 m, 30 m, 2 h and 6 h; so is one without a response within 10 seconds.',
      },
    },
  };
  return { event: { '{$request.body#/url}': { post } } };
}

/** `contact.created` is `ContactCreatedEvent`, and `custom_event.received` is `CustomEventReceivedEvent`. */
function eventName(type: EventTypeName): string {
  return `${type.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;
}

const ENVELOPE = {
  id: 'evt_01kaq2m5xbeqx9m3c0k7d1h2vt',
  created: '2026-11-21T09:30:00.000Z',
  project_id: 'prj_01kaq2m5xaf0x8y4qm9c1b7t3r',
};

const HEADERS: { name: string; description: string; maxLength?: number; pattern?: string; required?: boolean }[] = [
  { name: 'X-Webhook-Id', description: 'Unique id of this delivery attempt.', maxLength: MAX_ID_LENGTH },
  { name: 'X-Webhook-Event', description: 'Event type.', maxLength: MAX_TYPE_LENGTH },
  { name: 'X-Webhook-Timestamp', description: 'Unix seconds when it was signed.', pattern: '^\\d+$' },
  {
    name: 'X-Webhook-Signature',
    description:
      '`t=<timestamp>,v1=<hex>`: HMAC-SHA256 of the timestamp, a dot and the raw body, keyed by the signing secret. Reject timestamps more than 300 seconds away.',
    pattern: '^t=\\d+,v1=[0-9a-f]{64}$',
  },
  {
    name: 'X-Webhook-Signature-Previous',
    description: 'For 24 hours after a secret rotation: X-Webhook-Signature with the previous secret.',
    pattern: '^t=\\d+,v1=[0-9a-f]{64}$',
    required: false,
  },
];

const HEADERS_OF_EVENTS = HEADERS.map(({ name, description, required = true, ...bounds }) => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string', ...bounds },
}));
