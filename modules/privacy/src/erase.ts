import { randomBytes } from 'node:crypto';
import { contactDeleted, lockSuppressions } from '@postroom/contacts';
import { type Erasure, inTransaction, record, retryOn, sql, type Tx } from '@postroom/platform';
import { type DataSubjectRef, findDataSubject } from './data-subject.ts';
import { privacyParts } from './parts.ts';
import { BACK_OUT, LOCK_ERRORS, searchPages, startSearch } from './search.ts';

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
 * Erases a person from the project. One transaction deletes the contact, anonymizes its messages and events, and cancels planned mail.
 * Its current and previous addresses are kept only as hashes, so that none is ever mailed or imported again. Integrations receive
 * `contact.deleted` with the contact's id. Then the rows of others are searched for the addresses; `isComplete` says whether all were.
 * @throws DomainError as `findDataSubject`.
 */
export async function erasePerson(projectId: string, ref: DataSubjectRef): Promise<Erased & { isComplete: boolean }> {
  const { searchId, ...erased } = await retryOn(LOCK_ERRORS, () => inTransaction((tx) => eraseIn(tx, projectId, ref)), {
    attempts: 30,
  });
  return { ...erased, isComplete: await searchPages({ id: searchId, projectId }) };
}

/** Erases a person in the caller's transaction: each module erases from its own tables. */
export async function eraseIn(tx: Tx, projectId: string, ref: DataSubjectRef): Promise<Erased & { searchId: string }> {
  await lockSuppressions(tx, projectId);
  await sql(tx, BACK_OUT);
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
  return { ...erased, searchId: await startSearch(tx, erasure) };
}
