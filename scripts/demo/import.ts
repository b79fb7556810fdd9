import type { Client } from './client.ts';
import { type Field, fieldsOf, fits, nameColumns } from './columns.ts';
import type { CsvFile, Problem, Row } from './csv.ts';
import { count, progress, seconds, some } from './print.ts';

/** A custom field in the API. */
interface CustomField {
  id: string;
  key: string;
  type: Field['type'];
  options: string[];
}

/** Ensures that the project has a custom field for each column, and returns them. */
export async function prepareFields(api: Client, file: CsvFile): Promise<{ fields: Field[]; text: string }> {
  const known = new Map<string, CustomField>();
  for await (const field of api.list<CustomField>('/v1/custom-fields')) known.set(field.key, field);
  const fields: Field[] = [];
  const words: string[] = [];
  for (const wanted of fieldsOf(file)) {
    const field = fieldFor(wanted, file, known);
    const existing = known.get(field.key);
    if (existing === undefined) await createField(api, field);
    else await addOptions(api, existing, field);
    fields.push(field);
    words.push(`${field.key} (${field.type}${existing === undefined ? '' : ', already exists'})`);
  }
  return { fields, text: words.join(', ') || 'none: the file has only addresses and names' };
}

/** The field of that name if it accepts the column's values, else one whose name includes its type. */
function fieldFor(wanted: Field, file: CsvFile, known: ReadonlyMap<string, CustomField>): Field {
  const existing = known.get(wanted.key);
  if (existing === undefined) return wanted;
  if (existing.type === wanted.type || fits(file, wanted.column, existing.type))
    return { ...wanted, type: existing.type };
  return fieldFor({ ...wanted, key: `${wanted.key}_${wanted.type}` }, file, known);
}

async function createField(api: Client, { key, label, type, options }: Field): Promise<void> {
  await api.post('/v1/custom-fields', { key, label, type, ...(type === 'select' && { options }) });
}

/** Adds the file's values to the options of a select field. */
async function addOptions(api: Client, existing: CustomField, { options = [] }: Field): Promise<void> {
  if (existing.type !== 'select') return;
  const known = new Set(existing.options.map((option) => option.toLowerCase()));
  const added = options.filter((option) => !known.has(option.toLowerCase()));
  if (added.length > 0)
    await api.patch(`/v1/custom-fields/${existing.id}`, { options: [...existing.options, ...added] });
}

/** One row of `POST /v1/contacts/batch`. */
interface NewContact {
  email: string;
  name?: string;
  custom_fields?: Record<string, string>;
}

/** Outcome of the import. */
interface BatchResult {
  index: number;
  status: 'created' | 'updated' | 'existing' | 'error';
  id?: string;
  error?: { field: string; message: string };
}

export interface Imported {
  /** Ids of the contacts, in the order of the file. */
  ids: string[];
  created: number;
  updated: number;
  problems: Problem[];
  elapsedMs: number;
}

/** The API's limits for one batch; the body limit leaves a margin. */
const MAX_BATCH_ROWS = 1000;
const MAX_BATCH_BYTES = 900_000;

/** Imports every valid row; rows that the API rejects are reported with their line. */
export async function importContacts(api: Client, file: CsvFile, fields: readonly Field[]): Promise<Imported> {
  const started = performance.now();
  const imported: Imported = { ids: [], created: 0, updated: 0, problems: [], elapsedMs: 0 };
  const names = nameColumns(file);
  let done = 0;
  for (const batch of batches(file.rows, (row) => contactOf(row, names, fields))) {
    const body = { contacts: batch.map(({ contact }) => contact), on_conflict: 'update' };
    const { data } = await api.post<{ data: BatchResult[] }>('/v1/contacts/batch', body);
    for (const result of data) note(result, batch[result.index]!.row, imported);
    done += batch.length;
    imported.elapsedMs = performance.now() - started;
    progress(
      `${count(done)} of ${some(file.rows.length, 'row')} in ${seconds(imported.elapsedMs)}`,
      done / file.rows.length,
    );
  }
  return imported;
}

function note({ status, id, error }: BatchResult, row: Row, imported: Imported): void {
  if (status === 'error' || id === undefined) {
    const field = error?.field.replace(/^custom_fields\./, '') ?? 'the row';
    imported.problems.push({ line: row.line, message: `${field} ${error?.message ?? 'was rejected'}` });
    return;
  }
  imported.ids.push(id);
  if (status === 'created') imported.created++;
  else imported.updated++;
}

function contactOf(row: Row, names: readonly number[], fields: readonly Field[]): NewContact {
  const name = names
    .map((column) => row.values[column]!)
    .filter((part) => part !== '')
    .join(' ');
  const values = fields.flatMap(({ key, column }) =>
    row.values[column] === '' ? [] : [[key, row.values[column]!] as const],
  );
  return {
    email: row.email,
    ...(name !== '' && { name }),
    ...(values.length > 0 && { custom_fields: Object.fromEntries(values) }),
  };
}

function* batches(rows: readonly Row[], toContact: (row: Row) => NewContact) {
  let batch: { row: Row; contact: NewContact }[] = [];
  let bytes = 0;
  for (const row of rows) {
    const contact = toContact(row);
    const size = Buffer.byteLength(JSON.stringify(contact)) + 1;
    if (batch.length === MAX_BATCH_ROWS || (batch.length > 0 && bytes + size > MAX_BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push({ row, contact });
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}
