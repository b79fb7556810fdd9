import { type DataSubject, type ErasedRows, type Erasure, type PrivacyStage, sql, type Tx } from '@postroom/platform';

export const stage: PrivacyStage = 'contacts';

/** Deletes what the person submitted, with the records of their consent. */
export async function eraseSubject(tx: Tx, { projectId, keys, contactId }: Erasure): Promise<ErasedRows> {
  await sql(tx, 'DELETE FROM form_submissions WHERE project_id = $1 AND (email_key = ANY ($2) OR contact_id = $3)', [
    projectId,
    keys,
    contactId,
  ]);
  return {};
}

const EXPORT = `
  SELECT coalesce(json_agg(json_build_object('id', s.id, 'form', f.name, 'email', s.email, 'name', s.name,
      'customFields', s.custom_fields, 'consentText', s.consent_text, 'submittedAt', s.created_at, 'submittedFrom', s.submitted_from,
      'confirmedAt', s.confirmed_at, 'confirmedFrom', s.confirmed_from) ORDER BY s.id), '[]') AS submissions
    FROM form_submissions s JOIN forms f ON f.id = s.form_id
   WHERE s.project_id = $1 AND (s.email_key = ANY ($2) OR s.contact_id = $3)`;

/** What the person submitted, and when and from where they consented. */
export async function exportSubject(
  tx: Tx,
  { projectId, keys, contactId }: DataSubject,
): Promise<{ formSubmissions: unknown }> {
  const [found] = await sql<{ submissions: unknown }>(tx, EXPORT, [projectId, keys, contactId]);
  return { formSubmissions: found?.submissions ?? [] };
}
