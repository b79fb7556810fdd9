import { type DataSubject, type ErasedRows, type Erasure, type PrivacyStage, sql, type Tx } from '@postroom/platform';
import { redaction, redactionValues } from '@postroom/redaction';

export const stage: PrivacyStage = 'references';

/** Names of campaigns and replies of mail servers may contain addresses. */
const NOTIFICATION = redaction({ title: 'text', detail: 'text', advice: 'text' });

/** Removes the person's addresses from notifications. */
export async function eraseSubject(tx: Tx, subject: Erasure): Promise<ErasedRows> {
  await sql(
    tx,
    `UPDATE notifications SET ${NOTIFICATION.set} WHERE project_id = $1 AND ${NOTIFICATION.mentions}`,
    redactionValues(subject),
  );
  return {};
}

const EXPORT = `
  SELECT id, kind::text, subject_id AS "subjectId", title, detail, created_at AS at FROM notifications n
  WHERE project_id = $1
    AND EXISTS (SELECT FROM unnest($2::text[]) AS spelling WHERE position(spelling IN lower(n.title || ' ' || n.detail)) > 0)
  ORDER BY id`;

/** The notifications that mention the person. */
export async function exportSubject(
  tx: Tx,
  { projectId, spellings }: DataSubject,
): Promise<{ notifications: unknown[] }> {
  return { notifications: await sql(tx, EXPORT, [projectId, spellings]) };
}
