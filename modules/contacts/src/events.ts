import type { NewEvent } from '@postroom/platform';

/** The contact data that events carry. */
export interface ContactFacts {
  id: string;
  email: string;
  name: string;
}

/** The same as event data in SQL, for the contact `c`. */
export const FACTS_SQL = `json_build_object('contact_id', c.id, 'email', c.email, 'name', c.name)`;

const contactEvent =
  (type: string) =>
  ({ id, email, name }: ContactFacts): NewEvent => ({ type, data: { contact_id: id, email, name } });

/** A contact was added, individually or by import (spec: Event types). */
export const contactCreated = contactEvent('contact.created');
/** A contact's name, email or group membership changed. */
export const contactUpdated = contactEvent('contact.updated');
/** An unsubscribed contact was resubscribed. */
export const contactSubscribed = contactEvent('contact.subscribed');
/** A contact unsubscribed. */
export const contactUnsubscribed = contactEvent('contact.unsubscribed');
/** A contact was deleted; the event is its only remaining record. */
export const contactDeleted = contactEvent('contact.deleted');
