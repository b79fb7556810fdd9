import {
  type ErasedRows,
  type Erasure,
  type PrivacyStage,
  redaction,
  redactionValues,
  sql,
  type Tx,
} from '@postroom/platform';
import { cancelForErasure } from './imports.ts';
import { dropKeptFiles } from './kept-files.ts';

/** Before the events: one of an import that ends meanwhile has its filename and its error. */
export const stage: PrivacyStage = 'messages';

const IMPORT = redaction({ file_name: 'text', group_name: 'text', mapping: 'jsonb', plan: 'jsonb', error: 'text' });
const ERROR = redaction({ field: 'text', message: 'text' });
const CAUSE = redaction({ field: 'text', message: 'text', value: 'text' });

/**
 * Removes the person's addresses from filenames, previews and errors of imports, and deletes the files that would be kept for
 * later, which may contain the person: those of dry runs and uploads.
 */
export async function eraseSubject(tx: Tx, subject: Erasure): Promise<ErasedRows> {
  const values = redactionValues(subject);
  await sql(tx, `UPDATE imports SET ${IMPORT.set} WHERE project_id = $1 AND ${IMPORT.mentions}`, values);
  await sql(
    tx,
    `UPDATE import_errors SET ${ERROR.set}
     WHERE import_id IN (SELECT id FROM imports WHERE project_id = $1) AND ${ERROR.mentions}`,
    values,
  );
  await sql(
    tx,
    `DELETE FROM import_causes WHERE import_id IN (SELECT id FROM imports WHERE project_id = $1) AND ${CAUSE.mentions}`,
    values.slice(0, 2), // without the alias
  );
  await cancelForErasure(tx, subject.projectId);
  // Afterwards, because a dry run may have been completed while this waited for it.
  await dropKeptFiles(tx, subject.projectId);
  return {};
}
