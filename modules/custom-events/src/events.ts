import {
  type EventType,
  MAX_EMAIL_LENGTH,
  MAX_EVENT_NAME_LENGTH,
  MAX_ID_LENGTH,
  type NewEvent,
} from '@postroom/platform';
import { z } from 'zod';
import type { CheckedEvent } from './check-event.ts';

export const RECEIVED = 'custom_event.received';

export const eventTypes: Record<string, EventType> = {
  [RECEIVED]: {
    fires:
      'A custom event was accepted. Recorded only while an enabled endpoint of the project subscribes to it, because there may be thousands a second.',
    data: z.object({
      event_id: z.string().max(MAX_ID_LENGTH).describe('Id of the custom event.'),
      name: z.string().max(MAX_EVENT_NAME_LENGTH).describe('The name of the custom event, such as `order placed`.'),
      contact_id: z.string().max(MAX_ID_LENGTH).describe('The contact that it is about.'),
      email: z.string().max(MAX_EMAIL_LENGTH).describe("The contact's address."),
      properties: z.record(z.string(), z.unknown()).describe('The properties as they were sent.'),
      occurred_at: z.string().length(24).describe('When it occurred: ISO 8601, UTC, with milliseconds.'),
    }),
    example: {
      event_id: 'cev_01k9zq3v5re8rt5xw7m2n4p6q8',
      name: 'order placed',
      contact_id: 'ctc_01k9zq3v5re8rt5xw7m2n4p6q8',
      email: 'ada@example.com',
      properties: { order: 'A-1007', total: 49.9 },
      occurred_at: '2026-11-21T09:30:00.000Z',
    },
  },
};

/** A custom event was accepted. */
export function customEventReceived(accepted: {
  event: CheckedEvent;
  id: string;
  contactId: string;
  email: string;
}): NewEvent {
  const { event, id, contactId, email } = accepted;
  return {
    type: RECEIVED,
    data: {
      event_id: id,
      name: event.name,
      contact_id: contactId,
      email,
      properties: JSON.parse(event.json) as unknown,
      occurred_at: event.occurredAt.toISOString(),
    },
  };
}
