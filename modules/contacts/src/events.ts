import type { NewEvent } from '@postroom/platform';
import { SHOWN_NAME } from './names.ts';

/** The contact data that events carry. `name` is never empty: see `shownName`. */
export interface ContactFacts {
  id: string;
  email: string;
  name: string;
}

/** The same as event data in SQL, for the contact `c`. */
export const FACTS_SQL = `json_build_object('contact_id', c.id, 'email', c.email, 'name', ${SHOWN_NAME})`;

/** The columns of `ContactFacts`, for the contact `c`. */
export const FACTS_COLUMNS = `c.id, c.email, ${SHOWN_NAME} AS name`;

const contactEvent =
  (type: string) =>
  ({ id, email, name }: ContactFacts): NewEvent => ({ type, data: { contact_id: id, email, name } });

/** A contact was added, individually or by import (spec: Event types). */
export const contactCreated = contactEvent('contact.created');
/** A contact's name, email or group membership changed. */
export const contactUpdated = contactEvent('contact.updated');
/** An unsubscribed contact was resubscribed. */
export const contactSubscribed = contactEvent('contact.subscribed');
/** A contact unsubscribed, or was unsubscribed by a user, an API key or an imported list, as `origin` says. */
export const contactUnsubscribed = (contact: ContactFacts, origin: string): NewEvent => {
  const { type, data } = contactEvent('contact.unsubscribed')(contact);
  return { type, data: { ...data, origin } };
};
/** A contact was deleted; the event is its only remaining record. */
export const contactDeleted = contactEvent('contact.deleted');
