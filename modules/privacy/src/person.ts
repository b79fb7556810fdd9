import { emailKey, emailProblem, invalid, isId, notFound, sql, type Tx } from '@postroom/platform';

/** A person as a project knows one: an address, and the contact that has it, if there is one. */
export interface Person {
  projectId: string;
  /** The address as `emailKey` writes it. */
  key: string;
  contactId: string | null;
}

/** Who is meant: a contact, or an address, also of a contact that has been deleted. */
export interface PersonRef {
  contactId?: string | null | undefined;
  email?: string | null | undefined;
}

/** @throws DomainError `not_found` for a contact that is not in the project, `validation_error` unless exactly one is given. */
export async function findPerson(tx: Tx, projectId: string, { contactId, email }: PersonRef): Promise<Person> {
  if ((contactId == null) === (email == null)) {
    throw invalid({ field: 'email', message: 'must be given, or else the id of a contact, and not both' });
  }
  if (email != null) {
    const problem = emailProblem(email.trim());
    if (problem !== undefined) throw invalid({ field: 'email', message: problem });
    const key = emailKey(email);
    const [contact] = await sql<{ id: string }>(
      tx,
      'SELECT id FROM contacts WHERE project_id = $1 AND email_key = $2',
      [projectId, key],
    );
    return { projectId, key, contactId: contact?.id ?? null };
  }
  if (!isId('ctc', contactId ?? '')) throw notFound('contact');
  const [contact] = await sql<{ key: string }>(
    tx,
    'SELECT email_key AS key FROM contacts WHERE project_id = $1 AND id = $2',
    [projectId, contactId],
  );
  if (contact === undefined) throw notFound('contact');
  return { projectId, key: contact.key, contactId: contactId ?? null };
}
