import { type Erasure, redaction, redactionValues, sql, type Tx } from '@postroom/platform';

const IMPORT = redaction({ file_name: 'text', group_name: 'text', mapping: 'jsonb', plan: 'jsonb', error: 'text' });
const ERROR = redaction({ field: 'text', message: 'text' });

/** Removes the person's addresses from filenames, previews and errors of imports. */
export async function eraseSubject(tx: Tx, subject: Erasure): Promise<void> {
  const values = redactionValues(subject);
  await sql(tx, `UPDATE imports SET ${IMPORT.set} WHERE project_id = $1 AND ${IMPORT.mentions}`, values);
  await sql(
    tx,
    `UPDATE import_errors SET ${ERROR.set}
     WHERE import_id IN (SELECT id FROM imports WHERE project_id = $1) AND ${ERROR.mentions}`,
    values,
  );
}
