import {
  type DataSubject,
  emailKey,
  emailProblem,
  emailSpellings,
  invalid,
  isId,
  messageKeySql,
  notFound,
  sql,
  type Tx,
} from '@postroom/platform';

/** A data subject who was found, and whether their contact still exists. */
export interface FoundSubject extends DataSubject {
  isContact: boolean;
}

/** Identifies a data subject by contact id or by address, which may be a deleted contact's or a previous one. */
export interface DataSubjectRef {
  contactId?: string | null | undefined;
  email?: string | null | undefined;
}

/** The contact that has an address, or else the one that had it last. */
const HOLDER = `
  SELECT id, true AS "isContact", now() AS at FROM contacts WHERE project_id = $1 AND email_key = $2
  UNION ALL
  SELECT a.contact_id, c.id IS NOT NULL, a.changed_at FROM contact_addresses a LEFT JOIN contacts c ON c.id = a.contact_id
  WHERE a.project_id = $1 AND a.email_key = $2
  ORDER BY at DESC LIMIT 1`;

/**
 * All addresses that a contact has had, except those that now belong to another contact. Messages hold addresses that predate
 * `contact_addresses`.
 */
const ADDRESSES = `
  SELECT DISTINCT key FROM (
    SELECT email_key FROM contacts WHERE id = $2
    UNION ALL SELECT email_key FROM contact_addresses WHERE contact_id = $2
    UNION ALL SELECT ${messageKeySql('messages')} FROM messages WHERE contact_id = $2 AND project_id = $1 AND email NOT LIKE '%@erased.invalid'
  ) AS had(key)
  WHERE NOT EXISTS (SELECT FROM contacts o WHERE o.project_id = $1 AND o.email_key = had.key AND o.id <> $2)
  ORDER BY key`;

/** @throws DomainError `not_found` for an unknown contact, `validation_error` unless exactly one of id and address is given. */
export async function findDataSubject(
  tx: Tx,
  projectId: string,
  { contactId, email }: DataSubjectRef,
): Promise<FoundSubject> {
  if (contactId == null && email == null)
    throw invalid({ field: 'email', message: 'is required, unless contactId is given' });
  if (contactId != null && email != null)
    throw invalid({ field: 'email', message: 'must not be combined with contactId' });
  if (email != null) {
    const problem = emailProblem(email.trim());
    if (problem !== undefined) throw invalid({ field: 'email', message: problem });
    const key = emailKey(email);
    const [holder] = await sql<{ id: string; isContact: boolean }>(tx, HOLDER, [projectId, key]);
    return holder === undefined
      ? { projectId, keys: [key], spellings: emailSpellings(key), contactId: null, isContact: false }
      : withAddresses(tx, projectId, key, holder);
  }
  if (!isId('ctc', contactId ?? '')) throw notFound('contact');
  const [contact] = await sql<{ id: string; key: string }>(
    tx,
    'SELECT id, email_key AS key FROM contacts WHERE project_id = $1 AND id = $2',
    [projectId, contactId],
  );
  if (contact === undefined) throw notFound('contact');
  return withAddresses(tx, projectId, contact.key, { id: contact.id, isContact: true });
}

async function withAddresses(
  tx: Tx,
  projectId: string,
  key: string,
  { id, isContact }: { id: string; isContact: boolean },
): Promise<FoundSubject> {
  const rows = await sql<{ key: string }>(tx, ADDRESSES, [projectId, id]);
  const others = rows.map((each) => each.key).filter((each) => each !== key);
  const keys: FoundSubject['keys'] = [key, ...others];
  return { projectId, keys, spellings: keys.flatMap(emailSpellings), contactId: id, isContact };
}
