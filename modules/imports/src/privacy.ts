import { type ErasedRows, type Erasure, type PrivacyStage, sql, type Tx } from '@postroom/platform';
import { ofCursor, pageByOwner, redaction, redactionValues, type SearchedTable } from '@postroom/redaction';
import { cancelForErasure } from './imports.ts';
import { dropKeptFiles } from './kept-files.ts';

/** Before the events: one of an import that ends meanwhile has its filename and its error. */
export const stage: PrivacyStage = 'messages';

const IMPORT = redaction({ file_name: 'text', group_name: 'text', mapping: 'jsonb', plan: 'jsonb', error: 'text' });
const CAUSE = redaction({ field: 'text', message: 'text', value: 'text' });

/**
 * Removes the person's addresses from filenames, previews and frequent errors of imports, and deletes the files that would be kept for
 * later, which may contain the person: those of dry runs and uploads.
 */
export async function eraseSubject(tx: Tx, subject: Erasure): Promise<ErasedRows> {
  const values = redactionValues(subject);
  await sql(tx, `UPDATE imports SET ${IMPORT.set} WHERE project_id = $1 AND ${IMPORT.mentions}`, values);
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

const line = (cursor: string) => `(${ofCursor(cursor, 1)}, ${ofCursor(cursor, 2, 'int', '-1')})`;
const ERRORS = { owners: 'imports', owner: 'import_id', table: 'import_errors', id: 'line' };

/** The errors of each line. */
export const searched: readonly SearchedTable[] = [
  {
    name: 'import_errors',
    table: 'import_errors',
    columns: { field: 'text', message: 'text' },
    page: `SELECT owner AS id, after FROM (${pageByOwner(ERRORS, 'int', '-1')}) AS lines`,
    isOfPage: `t.import_id = ANY ($2) AND (t.import_id, t.line) > ${line('$3')} AND (t.import_id, t.line) <= ${line('$4')}`,
  },
];
