import {
  DATE_TIME_PROBLEM,
  emailKey,
  emailProblem,
  invalid,
  MAX_EVENT_NAME_LENGTH,
  normalizeEmail,
  parseDateTime,
  textProblem,
  checkDisplayName,
} from '@postroom/platform';
import { type CheckedProperties, checkProperties } from './properties.ts';

/** Maximum length of the customer's id for an event, in characters. */
export const MAX_EVENT_KEY_LENGTH = 200;

/** How many days ago an event may have occurred. */
export const LATE_DAYS = 30;
/** How many minutes an event may be ahead of our clock. */
export const FUTURE_MINUTES = 5;

const DAY_MS = 24 * 60 * 60 * 1000;

/** An event as a request has it. */
export interface EventInput {
  /** The customer's own id: an event with the id of an earlier one is a duplicate. */
  id?: string | null | undefined;
  name?: string | null | undefined;
  contactId?: string | null | undefined;
  email?: string | null | undefined;
  /** Whether to create the contact with `email` if there is none. */
  createContact?: boolean | null | undefined;
  properties?: unknown;
  /** ISO 8601 with an offset; now by default. */
  occurredAt?: string | null | undefined;
}

/** A valid event, whose contact may not exist. */
export interface CheckedEvent extends CheckedProperties {
  key: string | undefined;
  name: string;
  /** Either the contact's id or its address. */
  contact: { id: string } | { email: string; emailKey: string; create: boolean };
  occurredAt: Date;
}

/** Validates an event without looking anything up. @throws DomainError `validation_error` that names the field. */
export function checkEvent(input: EventInput, now: number): CheckedEvent {
  return {
    key: checkKey(input.id),
    name: checkEventName(input.name),
    contact: checkContact(input),
    occurredAt: checkTime(input.occurredAt, now),
    ...checkProperties(input.properties),
  };
}

function checkKey(id: string | null | undefined): string | undefined {
  if (id == null) return undefined;
  if (id === '' || id.length > MAX_EVENT_KEY_LENGTH)
    throw invalid({ field: 'id', message: `must be 1 to ${MAX_EVENT_KEY_LENGTH} characters` });
  const problem = textProblem(id);
  if (problem !== undefined) throw invalid({ field: 'id', message: problem });
  return id;
}

function checkEventName(name: string | null | undefined): string {
  if (name == null) throw invalid({ field: 'name', message: 'is required' });
  return checkDisplayName(name, 'name', MAX_EVENT_NAME_LENGTH);
}

function checkContact({ contactId, email, createContact }: EventInput): CheckedEvent['contact'] {
  if (contactId != null && email != null)
    throw invalid({ field: 'email', message: 'must not be combined with contactId' });
  if (contactId != null) return { id: contactId };
  if (email == null) throw invalid({ field: 'contactId', message: 'is required, unless the event has an email' });
  const trimmed = email.trim();
  const problem = emailProblem(trimmed);
  if (problem !== undefined) throw invalid({ field: 'email', message: problem });
  return { email: normalizeEmail(trimmed), emailKey: emailKey(trimmed), create: createContact === true };
}

function checkTime(text: string | null | undefined, now: number): Date {
  if (text == null) return new Date(now);
  const at = parseDateTime(text);
  if (at === undefined) throw invalid({ field: 'occurredAt', message: DATE_TIME_PROBLEM });
  if (at.getTime() < now - LATE_DAYS * DAY_MS)
    throw invalid({ field: 'occurredAt', message: `must be within the last ${LATE_DAYS} days` });
  if (at.getTime() > now + FUTURE_MINUTES * 60_000)
    throw invalid({ field: 'occurredAt', message: `must be at most ${FUTURE_MINUTES} minutes in the future` });
  return at;
}
