import type { NewEvent } from '@postroom/platform';

/** What events say of a contact. */
export interface ContactFacts {
  id: string;
  email: string;
  name: string;
}

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
