import { type DataSubject, type ErasedRows, type Erasure, type PrivacyStage, sql, type Tx } from '@postroom/platform';

export const stage: PrivacyStage = 'contacts';

/** Deletes the person's opt-outs. Memberships stay: they hold an id that no longer identifies anyone. */
export async function eraseSubject(tx: Tx, { contactId }: Erasure): Promise<ErasedRows> {
  await sql(tx, 'DELETE FROM group_opt_outs WHERE contact_id = $1', [contactId]);
  return {};
}

const EXPORT = `
  SELECT (SELECT coalesce(json_agg(json_build_object('id', g.id, 'name', g.name) ORDER BY g.id), '[]')
      FROM groups g JOIN group_members gm ON gm.group_id = g.id WHERE gm.contact_id = $1) AS groups,
    (SELECT coalesce(json_agg(json_build_object('groupId', g.id, 'name', g.name, 'at', o.created_at) ORDER BY g.id), '[]')
      FROM groups g JOIN group_opt_outs o ON o.group_id = g.id WHERE o.contact_id = $1) AS "groupOptOuts"`;

/** The groups that the person is in, and those they left. */
export async function exportSubject(
  tx: Tx,
  { contactId }: DataSubject,
): Promise<{ groups: unknown; groupOptOuts: unknown }> {
  const [found] = await sql<{ groups: unknown; groupOptOuts: unknown }>(tx, EXPORT, [contactId]);
  return found ?? { groups: [], groupOptOuts: [] };
}
