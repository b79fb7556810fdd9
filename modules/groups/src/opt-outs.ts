import { type ContactFacts, contactUpdated, FACTS_COLUMNS } from '@postroom/contacts';
import { checkDisplayName, db, record, sql, type Tx } from '@postroom/platform';
import { getGroup } from './groups.ts';

/**
 * Sets the name under which the unsubscribe page shows a group to its members; `null` hides the group.
 * @throws DomainError `not_found`, `validation_error` for an invalid name.
 */
export async function setPublicName(projectId: string, id: string, publicName: string | null): Promise<void> {
  await getGroup(projectId, id);
  const name = publicName === null ? null : checkDisplayName(publicName, 'publicName');
  await db.$transaction((tx) => tx.group.update({ where: { id }, data: { publicName: name } }));
}

/** A group that its members may opt out of, and whether this contact still receives its mail. */
export interface Choice {
  groupId: string;
  name: string;
  isKept: boolean;
}

/** The groups a contact may opt out of: those with a public name that it is a member of. */
export function choicesOf(tx: Tx, projectId: string, contactId: string): Promise<Choice[]> {
  return sql<Choice>(
    tx,
    `SELECT g.id AS "groupId", g.public_name AS name, o.group_id IS NULL AS "isKept"
     FROM group_members m JOIN groups g ON g.id = m.group_id
     LEFT JOIN group_opt_outs o ON o.group_id = g.id AND o.contact_id = m.contact_id
     WHERE m.contact_id = $2 AND g.project_id = $1 AND g.public_name IS NOT NULL ORDER BY g.public_name, g.id`,
    [projectId, contactId],
  );
}

/**
 * Opts a contact in to `groupIds` and out of all other groups it may choose from. Groups not shown to it are unaffected.
 * @returns whether anything changed.
 */
export async function keepGroups(
  tx: Tx,
  projectId: string,
  contactId: string,
  groupIds: readonly string[],
): Promise<boolean> {
  const choices = await choicesOf(tx, projectId, contactId);
  const left = choices.filter(({ groupId, isKept }) => isKept && !groupIds.includes(groupId));
  const joined = choices.filter(({ groupId, isKept }) => !isKept && groupIds.includes(groupId));
  if (left.length + joined.length === 0) return false;
  await sql(
    tx,
    'INSERT INTO group_opt_outs (group_id, contact_id) SELECT unnest($2::text[]), $1 ON CONFLICT DO NOTHING',
    [contactId, left.map(({ groupId }) => groupId)],
  );
  await sql(tx, 'DELETE FROM group_opt_outs WHERE contact_id = $1 AND group_id = ANY ($2)', [
    contactId,
    joined.map(({ groupId }) => groupId),
  ]);
  const contacts = await sql<ContactFacts>(tx, `SELECT ${FACTS_COLUMNS} FROM contacts c WHERE c.id = $1`, [contactId]);
  await record(tx, projectId, contacts.map(contactUpdated));
  return true;
}

/** Lets a contact receive the mail of groups again that it opted out of, in the caller's transaction, which records the event. @returns how many there were. */
export async function rejoinGroups(tx: Tx, contactId: string, groupIds: readonly string[]): Promise<number> {
  const text = 'DELETE FROM group_opt_outs WHERE contact_id = $1 AND group_id = ANY ($2) RETURNING group_id';
  return (await sql(tx, text, [contactId, groupIds])).length;
}
