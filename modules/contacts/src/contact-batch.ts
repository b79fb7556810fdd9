import {
  DomainError,
  emailKey,
  type FieldProblem,
  invalid,
  inTransaction,
  pool,
  record,
  sql,
  type Tx,
} from '@postroom/platform';
import { checkEmail, checkName, type ContactSource, insertContacts, localPart } from './contacts.ts';
import { coerceValues, type CustomFieldValues, readSchema, type Schema } from './custom-fields.ts';
import { type ContactFacts, contactCreated, contactUpdated } from './events.ts';
import { suppressedAmong } from './suppressions.ts';

/** The most rows of one batch. */
export const MAX_BATCH_ROWS = 1000;

/** What happens to a row whose contact exists: nothing, or its name and custom fields are written. */
export const ON_CONFLICT = ['skip', 'update'] as const;
export type OnConflict = (typeof ON_CONFLICT)[number];

export interface BatchRow {
  email?: string | null | undefined;
  name?: string | null | undefined;
  customFields?: unknown;
}

/** What became of a row, in the order of the request. */
export interface BatchResult {
  /** The place of the row in the request, from 0. */
  index: number;
  status: 'created' | 'updated' | 'existing' | 'error';
  /** The contact of the row's address; absent for an error. */
  id?: string;
  error?: FieldProblem;
}

/** A row that passed its checks. */
interface CheckedRow {
  index: number;
  email: string;
  key: string;
  name: string | undefined;
  customFields: CustomFieldValues;
  cleared: string[];
}

/**
 * Creates up to 1,000 contacts in a handful of statements. A bad row is reported and does not hold back the others; of
 * rows with the same address the first creates. With `update`, a name that is given is written, and custom fields are
 * written key by key: those that a row does not name stay.
 * @throws DomainError `validation_error` for an empty or too large batch.
 */
export async function createContactsBatch(
  projectId: string,
  rows: readonly BatchRow[],
  options: { onConflict?: OnConflict | null | undefined; source?: ContactSource } = {},
): Promise<BatchResult[]> {
  if (rows.length === 0 || rows.length > MAX_BATCH_ROWS) {
    throw invalid({ field: 'contacts', message: `must be 1 to ${MAX_BATCH_ROWS} contacts` });
  }
  const schema = await readSchema(pool, projectId);
  const checked: CheckedRow[] = [];
  const results: BatchResult[] = rows.map((row, index) => {
    const outcome = checkRow(row, index, schema);
    if ('field' in outcome) return { index, status: 'error', error: outcome };
    checked.push(outcome);
    return { index, status: 'existing' };
  });
  await inTransaction((tx) => writeRows(tx, projectId, checked, results, options));
  return results;
}

function checkRow(row: BatchRow, index: number, schema: Schema): CheckedRow | FieldProblem {
  try {
    if (row.email == null) return { field: 'email', message: 'is required' };
    const email = checkEmail(row.email);
    const name = checkName(row.name);
    const { values, cleared, problems } = coerceValues(row.customFields, schema);
    return problems[0] ?? { index, email, key: emailKey(email), name, customFields: values, cleared };
  } catch (error) {
    if (error instanceof DomainError && error.details[0] !== undefined) return error.details[0];
    throw error;
  }
}

interface WriteOptions {
  onConflict?: OnConflict | null | undefined;
  source?: ContactSource;
}

async function writeRows(
  tx: Tx,
  projectId: string,
  rows: readonly CheckedRow[],
  results: BatchResult[],
  options: WriteOptions,
): Promise<void> {
  const created = await createFirsts(tx, projectId, rows, options.source ?? 'api');
  for (const [index, id] of created) results[index] = { index, status: 'created', id };
  const others = rows.filter(({ index }) => !created.has(index));
  if (others.length === 0) return;

  const idByKey = await existingIds(tx, projectId, others);
  const existing = others.filter(({ key }) => idByKey.has(key));
  const status = options.onConflict === 'update' ? 'updated' : 'existing';
  if (status === 'updated') await updateContacts(tx, projectId, existing);
  for (const { index, key } of existing) results[index] = { index, status, id: idByKey.get(key) as string };

  const refused = others.filter(({ key }) => !idByKey.has(key));
  const suppressed = await suppressedAmong(
    tx,
    projectId,
    refused.map(({ key }) => key),
  );
  for (const { index } of refused) results[index] = { index, status: 'error', error: SUPPRESSED };
  // What was in the way of these has gone between two statements: now they can be created.
  const free = refused.filter(({ key }) => !suppressed.has(key));
  if (free.length > 0) await writeRows(tx, projectId, free, results, options);
}

/** Creates the contacts of addresses that are new, each of the first row that has it; returns their ids by row. */
async function createFirsts(
  tx: Tx,
  projectId: string,
  rows: readonly CheckedRow[],
  source: ContactSource,
): Promise<Map<number, string>> {
  const seen = new Set<string>();
  const firsts = rows.filter(({ key }) => !seen.has(key) && seen.add(key));
  const contacts = firsts.map(({ email, name, customFields }) => ({
    email,
    name: name ?? localPart(email),
    customFields,
  }));
  const created = await insertContacts(tx, projectId, source, contacts);
  await record(tx, projectId, created.map(contactCreated));
  const indexByKey = new Map(firsts.map(({ key, index }) => [key, index]));
  return new Map(created.map(({ id, email }) => [indexByKey.get(emailKey(email)) as number, id]));
}

const SUPPRESSED: FieldProblem = { field: 'email', message: "is on the project's suppression list" };

async function existingIds(tx: Tx, projectId: string, rows: readonly CheckedRow[]): Promise<Map<string, string>> {
  const found = await sql<{ id: string; key: string }>(
    tx,
    'SELECT id, email_key AS key FROM contacts WHERE project_id = $1 AND email_key = ANY ($2)',
    [projectId, rows.map(({ key }) => key)],
  );
  return new Map(found.map(({ key, id }) => [key, id]));
}

/** One row per address: what later rows of the request give wins over what earlier ones gave. */
function merged(rows: readonly CheckedRow[]): CheckedRow[] {
  const byKey = new Map<string, CheckedRow>();
  for (const row of rows) {
    const before = byKey.get(row.key);
    const customFields = { ...before?.customFields, ...row.customFields };
    for (const key of row.cleared) delete customFields[key];
    const cleared = [...(before?.cleared ?? []), ...row.cleared].filter((key) => !(key in customFields));
    byKey.set(row.key, { ...row, name: row.name ?? before?.name, customFields, cleared });
  }
  return [...byKey.values()];
}

/** Rows are locked in the order of addresses, so that two batches that share some never wait for each other. */
async function updateContacts(tx: Tx, projectId: string, rows: readonly CheckedRow[]): Promise<void> {
  if (rows.length === 0) return;
  const updates = merged(rows);
  const renamed = await sql<ContactFacts & { renamed: boolean }>(
    tx,
    `WITH n AS (
       SELECT * FROM unnest($2::text[], $3::text[], $4::jsonb[], $5::jsonb[]) AS n(key, name, custom_fields, cleared)
     ), before AS (
       SELECT c.id, c.name, n.name AS new_name,
              (c.custom_fields || n.custom_fields) - ARRAY(SELECT jsonb_array_elements_text(n.cleared)) AS new_fields, c.custom_fields
         FROM contacts c JOIN n ON n.key = c.email_key
        WHERE c.project_id = $1 ORDER BY c.email_key FOR UPDATE OF c
     )
     UPDATE contacts c SET name = coalesce(b.new_name, b.name), custom_fields = b.new_fields, updated_at = now()
       FROM before b
      WHERE c.id = b.id AND (coalesce(b.new_name, b.name), b.new_fields) IS DISTINCT FROM (b.name, b.custom_fields)
     RETURNING c.id, c.email, c.name, c.name <> b.name AS renamed`,
    [
      projectId,
      updates.map(({ key }) => key),
      updates.map(({ name }) => name ?? null),
      updates.map(({ customFields }) => JSON.stringify(customFields)),
      updates.map(({ cleared }) => JSON.stringify(cleared)),
    ],
  );
  await record(tx, projectId, renamed.filter((contact) => contact.renamed).map(contactUpdated));
}
