import { type FieldProblem, invalid, inTransaction, pool } from '@postroom/platform';
import {
  retryOnCollision,
  type CheckedContact,
  checkContact,
  type ContactRow,
  type OnConflict,
  writeContacts,
  type WrittenContact,
} from './contact-writes.ts';
import { type ContactSource, SUPPRESSED } from './contacts.ts';
import { readSchema } from './custom-fields.ts';

/** Maximum number of rows in a batch. */
export const MAX_BATCH_ROWS = 1000;

/** The result of one row; results are in request order. */
export interface BatchResult {
  /** The row's index in the request, from 0. */
  index: number;
  status: 'created' | 'updated' | 'existing' | 'error';
  /** The id of the contact with the row's address; absent for an error. */
  id?: string;
  error?: FieldProblem;
}

/**
 * Creates up to 1,000 contacts in a few statements. A bad row is reported without blocking the others; if rows share an
 * address, the first one creates the contact. With `update`, names that are provided are written, and custom fields are
 * merged by key.
 * @throws DomainError `validation_error` for an empty or too large batch.
 */
export async function createContactsBatch(
  projectId: string,
  rows: readonly ContactRow[],
  options: { onConflict?: OnConflict | null | undefined; source?: ContactSource } = {},
): Promise<BatchResult[]> {
  if (rows.length === 0 || rows.length > MAX_BATCH_ROWS) {
    throw invalid({ field: 'contacts', message: `must be 1 to ${MAX_BATCH_ROWS} contacts` });
  }
  const { source = 'api' } = options;
  const onConflict = options.onConflict ?? 'skip';
  const schema = await readSchema(pool, projectId);
  const checked = rows.map((row) => checkContact(row, schema));
  const good = checked.filter((row): row is CheckedContact => !Array.isArray(row));
  const written =
    good.length === 0
      ? []
      : await retryOnCollision(() => inTransaction((tx) => writeContacts(tx, projectId, good, { onConflict, source })));
  let next = 0;
  return checked.map((row, index) =>
    Array.isArray(row)
      ? { index, status: 'error', error: row[0] as FieldProblem }
      : { index, ...resultOf(written[next++] as WrittenContact) },
  );
}

function resultOf(written: WrittenContact): Omit<BatchResult, 'index'> {
  if (written.status === 'suppressed') return { status: 'error', error: SUPPRESSED };
  const isUpdated = written.status === 'existing' && written.changed;
  return { status: isUpdated ? 'updated' : written.status, id: written.id };
}
