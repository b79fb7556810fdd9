import {
  type EventType,
  type FieldProblem,
  MAX_EMAIL_LENGTH,
  MAX_ID_LENGTH,
  MAX_NAME_LENGTH,
  MAX_TAG_LENGTH,
} from '@postroom/platform';
import { loadParts } from '@postroom/registry';
import { z } from 'zod';

const id = z.string().max(MAX_ID_LENGTH);
const address = z.string().max(MAX_EMAIL_LENGTH);
const name = z.string().max(MAX_NAME_LENGTH);

const contact = z.object({
  contact_id: id.describe('Contact id.'),
  email: address.describe('The address, as it is now.'),
  name: name.describe("The contact's name; the local part of the address if it has none."),
});

const email = z.object({
  email: address.describe("The recipient's address."),
  message_id: id.describe('Id of the message, the same in every event about it.'),
  subject: z.string().describe('The subject, with placeholders filled in.'),
  campaign_id: id.nullable().describe('The campaign it belongs to; null for a transactional email.'),
  contact_id: id.nullable().describe('The recipient contact of a campaign or journey; null for other mail.'),
  tags: z.array(z.string().max(MAX_TAG_LENGTH)).describe('The `tags` of the email.'),
  metadata: z.record(z.string(), z.unknown()).describe('The `metadata` of the email, unchanged.'),
});

const reason = z.string().describe('The reason, as text from the server or from Postroom.');
const byMachine = z
  .boolean()
  .optional()
  .describe('Whether it was caused by a bot, such as a prefetcher or a security scanner.');
const userAgent = z.string().max(500).nullable().optional().describe('The user agent.');

const campaign = z.object({
  campaign_id: id.describe('Campaign id.'),
  name: name.describe("The campaign's name."),
});

const counts = {
  sent: z.number().int().describe('Messages that were accepted for sending.'),
  delivered: z
    .number()
    .int()
    .describe('How many of them the receiving servers had accepted by then, as far as they are reported.'),
  failed: z.number().int().describe('Messages that failed to send.'),
};

const unsubscribedBy = z
  .enum(['recipient', 'report', 'user', 'api', 'import'])
  .describe(
    'Who unsubscribed the contact: the recipient through a link, a report, a user, an API key or an imported list.',
  );

const exampleContact = { contact_id: 'ctc_01k9zq3v5re8rt5xw7m2n4p6q8', email: 'ada@example.com', name: 'Ada Lovelace' };
const exampleEmail = {
  email: 'ada@example.com',
  message_id: 'eml_01k9zq4c8fe1m9v3t5w7y2a4b6',
  subject: 'News in November',
  campaign_id: 'cmp_01k9zq2h6ke4s8x1z3b5d7f9g1',
  contact_id: exampleContact.contact_id,
  tags: ['newsletter'],
  metadata: { order: 'A-1007' },
};
const exampleCampaign = { campaign_id: 'cmp_01k9zq2h6ke4s8x1z3b5d7f9g1', name: 'November news' };

const contactEvent = (fires: string): EventType => ({ fires, data: contact, example: exampleContact });
const emailEvent = (fires: string, more: z.ZodRawShape = {}, example: Record<string, unknown> = {}): EventType => ({
  fires,
  data: email.extend(more),
  example: { ...exampleEmail, ...example },
});
const campaignEvent = (fires: string, more: z.ZodRawShape, example: Record<string, unknown>): EventType => ({
  fires,
  data: campaign.extend(more),
  example: { ...exampleCampaign, ...example },
});

/** The types of the spec, in its order (Event types). */
const SPECIFIED = {
  'contact.created': contactEvent('A contact is added (manually or by import).'),
  'contact.updated': contactEvent("A contact's name, email or group membership changes."),
  'contact.subscribed': contactEvent('A contact is subscribed or resubscribed.'),
  'contact.unsubscribed': {
    fires: 'A contact unsubscribes.',
    data: contact.extend({ origin: unsubscribedBy }),
    example: { ...exampleContact, origin: 'recipient' },
  },
  'contact.deleted': contactEvent('A contact is deleted.'),
  'email.sent': emailEvent('A message is accepted for sending.'),
  'email.failed': emailEvent(
    'A message fails to send.',
    { reason },
    { reason: '550 5.1.1 The mailbox does not exist' },
  ),
  'email.delivered': emailEvent(
    'The receiving server accepted the message. Amazon SES reports it; a connected mailbox account counts as delivered what it accepts; an SMTP relay reports it only where it offers DSN (RFC 3461) and the sending domain has a return path.',
  ),
  'email.opened': emailEvent(
    'The recipient opened the message.',
    { machine: byMachine, user_agent: userAgent },
    { machine: false, user_agent: 'Mozilla/5.0' },
  ),
  'email.clicked': emailEvent(
    'The recipient clicked a tracked link.',
    { url: z.string().describe('The target of the link.'), machine: byMachine, user_agent: userAgent },
    { url: 'https://example.com/november', machine: false, user_agent: 'Mozilla/5.0' },
  ),
  'email.bounced': emailEvent('The message bounced.', { reason }, { reason: '550 5.1.1 The mailbox does not exist' }),
  'email.complained': emailEvent('The recipient marked it as spam.'),
  'email.rejected': emailEvent(
    'The sending provider rejected the message (for example a detected virus).',
    { reason },
    { reason: 'The provider detected a virus' },
  ),
  'campaign.started': campaignEvent(
    'A campaign began sending. Recorded once its recipients are counted, which for a large campaign is after the first `email.sent`.',
    { recipients: z.number().int().describe('The number of recipients.') },
    { recipients: 1200 },
  ),
  'campaign.completed': campaignEvent('A campaign finished sending to all recipients.', counts, {
    sent: 1188,
    delivered: 1180,
    failed: 12,
  }),
  'campaign.paused': campaignEvent(
    'A campaign was auto-paused (for example by warmup safety).',
    { reason },
    { reason: '6.2 % of the last 500 messages bounced' },
  ),
  'webhook.test': {
    fires: 'A sample event queued on request for testing.',
    data: z.object({
      endpoint_id: id.describe('The tested endpoint, which alone gets the event.'),
      message: z.string().describe('A greeting.'),
    }),
    example: { endpoint_id: 'whe_01k9zq1d4we7r2t4y6u8i1p3s5', message: 'This is a test of your webhook endpoint.' },
  },
} as const satisfies Record<string, EventType>;

/** Name of an event type. The compiler knows those of the spec; modules add others when they are loaded. */
export type EventTypeName = keyof typeof SPECIFIED;

/**
 * All event types: those of the spec, then those that modules contribute. Types and members of `data` may be added
 * later; receivers must ignore unknown ones.
 */
export const EVENT_TYPES: Readonly<Record<EventTypeName, EventType>> = Object.assign(
  { ...SPECIFIED },
  ...(await loadParts('events')).map((part) => part.eventTypes),
);

export const EVENT_TYPE_NAMES = Object.keys(EVENT_TYPES) as EventTypeName[];

/** The problem of a field whose value is not an event type; none if it is one. */
export const eventTypeProblems = (field: string, type: string): FieldProblem[] =>
  (EVENT_TYPE_NAMES as string[]).includes(type)
    ? []
    : [{ field, message: `"${type.slice(0, 100)}" is not an event type` }];

/** Maximum length of an event type, including types added later. */
export const MAX_TYPE_LENGTH = 64;

/** Wildcard for every type, including types added later. */
export const ALL_EVENTS = '*';

/** JSON Schema of a type's request body (spec: Delivery). */
export function bodySchema(type: EventTypeName): Record<string, unknown> {
  const { fires, data } = EVENT_TYPES[type];
  const body = z
    .object({
      id: id.describe('Event id; the same event may be delivered more than once, so deduplicate on it.'),
      type: z.literal(type).describe('The event type.'),
      created: z.string().length(24).describe('ISO 8601, UTC, with milliseconds.'),
      project_id: id.describe('The project that it belongs to.'),
      data,
    })
    .describe(fires);
  return z.toJSONSchema(body, { io: 'input' });
}
