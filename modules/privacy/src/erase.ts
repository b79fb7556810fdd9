import { randomBytes } from 'node:crypto';
import * as campaigns from '@postroom/campaigns/privacy';
import { contactDeleted, lockSuppressions } from '@postroom/contacts';
import * as contacts from '@postroom/contacts/privacy';
import * as groups from '@postroom/groups/privacy';
import * as imports from '@postroom/imports/privacy';
import * as ledger from '@postroom/ledger/privacy';
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
import * as platform from '@postroom/platform/privacy';
import * as tracking from '@postroom/tracking/privacy';
import * as webhooks from '@postroom/webhooks/privacy';
import { type DataSubjectRef, findDataSubject } from './data-subject.ts';

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
  await contacts.eraseSubject(tx, erasure);
  await groups.eraseSubject(tx, erasure);
  // Campaigns before the ledger: its rows are locked after those of their campaigns.
  const withdrawn = await campaigns.eraseSubject(tx, erasure);
  const { canceled, messageIds } = await ledger.eraseSubject(tx, erasure);
  erasure = { ...erasure, messageIds };
  await tracking.eraseSubject(tx, erasure);
  const events = await platform.eraseSubject(tx, erasure);
  await webhooks.eraseSubject(tx, erasure);
  await imports.eraseSubject(tx, erasure);
  if (isContact && person.contactId !== null) {
    await record(tx, projectId, [contactDeleted({ id: person.contactId, email: alias, name: '' })]);
  }
  return { messages: messageIds.length, events, canceled: canceled + withdrawn };
}
