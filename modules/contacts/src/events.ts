import type { NewEvent } from '@postroom/platform';

/** What events say of a contact. */
export interface ContactFacts {
  id: string;
  email: string;
  name: string;
}

/** The same, as the data of an event that a statement records of the contact `c`. */
export const FACTS_SQL = `json_build_object('contact_id', c.id, 'email', c.email, 'name', c.name)`;

const contactEvent =
  (type: string) =>
  ({ id, email, name }: ContactFacts): NewEvent => ({ type, data: { contact_id: id, email, name } });

/** A contact was added, one by one or by import (spec: Event types). */
export const contactCreated = contactEvent('contact.created');
/** A contact's name, email or group membership changed. */
export const contactUpdated = contactEvent('contact.updated');
/** A contact who had unsubscribed is subscribed again. */
export const contactSubscribed = contactEvent('contact.subscribed');
/** A contact unsubscribed. */
export const contactUnsubscribed = contactEvent('contact.unsubscribed');
/** A contact was deleted; the event is what is left of it. */
export const contactDeleted = contactEvent('contact.deleted');
