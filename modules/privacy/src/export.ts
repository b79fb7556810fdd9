import * as contacts from '@postroom/contacts/privacy';
import * as groups from '@postroom/groups/privacy';
import * as ledger from '@postroom/ledger/privacy';
import { inTransaction, sql } from '@postroom/platform';
import * as platform from '@postroom/platform/privacy';
import * as tracking from '@postroom/tracking/privacy';
import * as webhooks from '@postroom/webhooks/privacy';
import { type DataSubjectRef, findDataSubject } from './data-subject.ts';

/**
 * Exports all data that the project stores about a person, from one snapshot: the contact, messages sent and their outcomes.
 * Bcc addresses belong to other people and are left out.
 * @throws DomainError as `findDataSubject`.
 */
export async function personData(projectId: string, ref: DataSubjectRef): Promise<unknown> {
  return inTransaction(async (tx) => {
    await sql(tx, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const person = await findDataSubject(tx, projectId, ref);
    const { contact, suppressions } = await contacts.exportSubject(tx, person);
    const { softBounces, messages } = await ledger.exportSubject(tx, person);
    const { events, audit } = await platform.exportSubject(tx, person);
    const hits = await tracking.exportSubject(
      tx,
      messages.map(({ id }) => id),
    );
    const deliveries = await webhooks.exportSubject(
      tx,
      events.map(({ id }) => id),
    );
    const [email, ...otherEmails] = person.keys;
    return {
      email,
      otherEmails,
      contact,
      ...(await groups.exportSubject(tx, person)),
      suppressions,
      softBounces,
      messages: messages.map((message) => ({ ...message, hits: hits.get(message.id) ?? [] })),
      events: events.map((event) => ({ ...event, deliveries: deliveries.get(event.id) ?? [] })),
      audit,
    };
  });
}
