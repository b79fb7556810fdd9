import { randomBytes } from 'node:crypto';
import { contactDeleted, lockSuppressions } from '@postroom/contacts';
import {
  DEADLOCK,
  type Erasure,
  inTransaction,
  LOCK_NOT_AVAILABLE,
  record,
  retryOn,
  sql,
  type Tx,
} from '@postroom/platform';
import { type DataSubjectRef, findDataSubject } from './data-subject.ts';
import { privacyParts } from './parts.ts';

/** Counts of what an erasure changed. */
export interface Erased {
  /** Messages anonymized. */
  messages: number;
  /** Events anonymized. */
  events: number;
  /** Planned messages that were canceled. */
  canceled: number;
}

/**
 * Erases a person from the project in one transaction. Deletes the contact, anonymizes its messages and events, and cancels
 * planned mail. Its current and previous addresses are kept only as hashes, so that none is ever mailed or imported again.
 * Integrations receive `contact.deleted` with the contact's id.
 * @throws DomainError as `findDataSubject`.
 */
export const erasePerson = (projectId: string, ref: DataSubjectRef): Promise<Erased> =>
  retryOn(LOCK_ERRORS, () => inTransaction((tx) => eraseIn(tx, projectId, ref)), { attempts: 30 });

/** A lock timeout or a deadlock; the transaction is retried. */
const LOCK_ERRORS = [LOCK_NOT_AVAILABLE, DEADLOCK];

/**
 * Erases a person in the caller's transaction: each module erases from its own tables. Locks rows in a different order than
 * senders do, so the lock timeout is shorter than PostgreSQL's deadlock timeout. The erasure backs out and retries before a
 * sender could be aborted.
 */
export async function eraseIn(tx: Tx, projectId: string, ref: DataSubjectRef): Promise<Erased> {
  await lockSuppressions(tx, projectId);
  await sql(tx, `SET LOCAL lock_timeout = '400ms'`);
  const { isContact, ...person } = await findDataSubject(tx, projectId, ref);
  const alias = `erased-${randomBytes(8).toString('hex')}@erased.invalid`;
  let erasure: Erasure = { ...person, alias, messageIds: [] };
  const erased: Erased = { messages: 0, events: 0, canceled: 0 };
  for (const part of await privacyParts()) {
    const { messageIds = [], events = 0, canceled = 0 } = await part.eraseSubject(tx, erasure);
    erasure = { ...erasure, messageIds: [...erasure.messageIds, ...messageIds] };
    erased.messages += messageIds.length;
    erased.events += events;
    erased.canceled += canceled;
  }
  if (isContact && person.contactId !== null) {
    await record(tx, projectId, [contactDeleted({ id: person.contactId, email: alias, name: '' })]);
  }
  return erased;
}
