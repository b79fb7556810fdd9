import { inTransaction, type PersonData, sql } from '@postroom/platform';
import { type DataSubjectRef, findDataSubject } from './data-subject.ts';
import { privacyParts } from './parts.ts';

/** The members of an export in their documented order. Other modules add theirs at the end. */
const EMPTY: PersonData = {
  contact: null,
  groups: [],
  groupOptOuts: [],
  suppressions: [],
  softBounces: [],
  messages: [],
  events: [],
  audit: [],
};

/**
 * Exports all data that the project stores about a person, from one snapshot: the contact, messages sent and their outcomes.
 * Bcc addresses belong to other people and are left out.
 * @throws DomainError as `findDataSubject`.
 */
export async function personData(projectId: string, ref: DataSubjectRef): Promise<unknown> {
  return inTransaction(async (tx) => {
    await sql(tx, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const person = await findDataSubject(tx, projectId, ref);
    const [email, ...otherEmails] = person.keys;
    const data: PersonData = { email, otherEmails, ...EMPTY };
    for (const part of await privacyParts()) Object.assign(data, await part.exportSubject?.(tx, person, data));
    return data;
  });
}
