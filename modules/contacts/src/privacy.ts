import {
  type DataSubject,
  type ErasedRows,
  type Erasure,
  newId,
  type PrivacyStage,
  sql,
  type Tx,
} from '@postroom/platform';
import { redaction, redactionValues } from '@postroom/redaction';

export const stage: PrivacyStage = 'contacts';

const FILTER = redaction({ filter: 'jsonb' });
const VIEW = redaction({ name: 'text', search: 'jsonb' });

/** Deletes the contact and its addresses. Of the suppressions only a hash stays, so that no address is mailed or imported again. */
export async function eraseSubject(tx: Tx, subject: Erasure): Promise<ErasedRows> {
  const { projectId, contactId, keys } = subject;
  await sql(tx, 'DELETE FROM contacts WHERE project_id = $1 AND id = $2', [projectId, contactId]);
  await sql(tx, 'DELETE FROM contact_addresses WHERE project_id = $1 AND (contact_id = $2 OR email_key = ANY ($3))', [
    projectId,
    contactId,
    keys,
  ]);
  await sql(tx, 'DELETE FROM suppressions WHERE project_id = $1 AND email_key = ANY ($2)', [projectId, keys]);
  await sql(
    tx,
    `INSERT INTO suppressions (id, project_id, email, email_key, reason)
     SELECT id, $1, 'erased', erased_key($1, key), 'manual' FROM unnest($2::text[], $3::text[]) AS t(key, id)
     ON CONFLICT DO NOTHING`,
    [projectId, keys, keys.map(() => newId('sup'))],
  );
  await sql(
    tx,
    `UPDATE segments SET ${FILTER.set} WHERE project_id = $1 AND ${FILTER.mentions}`,
    redactionValues(subject),
  );
  await sql(
    tx,
    `UPDATE contact_views SET ${VIEW.set} WHERE project_id = $1 AND ${VIEW.mentions}`,
    redactionValues(subject),
  );
  return {};
}

const EXPORT = `
  SELECT (SELECT json_build_object('id', c.id, 'email', c.email, 'name', nullif(c.name, ''), 'source', c.source,
        'customFields', c.custom_fields, 'createdAt', c.created_at, 'updatedAt', c.updated_at)
      FROM contacts c WHERE c.project_id = $1 AND c.id = $3) AS contact,
    (SELECT coalesce(json_agg(json_build_object('id', s.id, 'reason', s.reason, 'origin', s.origin,
        'addedById', s.added_by_id, 'createdAt', s.created_at) ORDER BY s.id), '[]')
      FROM suppressions s WHERE s.project_id = $1 AND s.email_key = ANY ($2)) AS suppressions`;

/** The contact, and why its addresses are suppressed. */
export async function exportSubject(
  tx: Tx,
  { projectId, keys, contactId }: DataSubject,
): Promise<{ contact: unknown; suppressions: unknown }> {
  const [found] = await sql<{ contact: unknown; suppressions: unknown }>(tx, EXPORT, [projectId, keys, contactId]);
  return found ?? { contact: null, suppressions: [] };
}
