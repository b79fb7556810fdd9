import {
  createCustomField,
  type CreateCustomFieldInput,
  type CustomField,
  type CustomFieldType,
  type FieldSchema,
  listCustomFields,
} from '@postroom/contacts';
import { DomainError, normalizeText } from '@postroom/platform';
import {
  clean,
  findEmailColumn,
  findNameColumns,
  type Header,
  keyFor,
  labelFor,
  toRow,
  TypeGuess,
  unguard,
} from '@postroom/csv';
import { type Layout, inspectBeginning, readRows, inspectFile, UnusableFile } from './file.ts';
import type { Import } from './imports.ts';
import type { CheckedMapping } from './options.ts';
import { reasonNamed } from './reasons.ts';

/** A column of the file and its target. */
export interface PlannedColumn {
  /** The column name in the file. */
  name: string;
  /** `email`, `name`, `reason` or `customFields.<key>`; empty if it is not imported. */
  fields: string[];
  /** The type of the custom field. */
  type: CustomFieldType | null;
  /** Whether the custom field is created for it. */
  isNew: boolean;
}

/** Everything needed to parse the rows of a file. It is stored, so that every worker parses them the same way. */
export interface Plan {
  layout: Layout;
  /** Upper limit of the number of rows. */
  lines: number;
  columns: PlannedColumn[];
  emailColumn: number;
  nameColumns: number[];
  /** The column of suppression reasons; -1 or undefined if there is none. */
  reasonColumn?: number;
  fields: PlannedField[];
  /** Rows per batch. Batches are known by number, so a release that changes it must not change running imports. */
  batchRows?: number;
}

/**
 * A trade-off: large batches amortize the transaction, but a batch is the least that is written before an import can
 * make way for other work, and holds the project's suppression lock.
 */
const BATCH_ROWS = 1_000;

/** A custom field with the column of its values. */
interface PlannedField extends FieldSchema {
  column: number;
}

/** A column to import as a custom field, which may have to be created. */
interface Wanted {
  column: number;
  key: string;
  existing: CustomField | undefined;
}

/**
 * Inspects a file and maps its columns; creates the requested custom fields, unless it is a dry run.
 * @throws UnusableFile when no contacts can be read from it.
 */
export async function planFile(row: Import): Promise<Plan> {
  const { encoding, lines } = await inspectFile(row);
  const { layout, header, sample } = await inspectBeginning(row, encoding);
  const mapping = (row.mapping ?? {}) as CheckedMapping;
  const emailColumn = emailColumnOf(header, sample, mapping);
  if (row.kind === 'suppressions') return planSuppressions({ layout, lines, header, sample, emailColumn, mapping });
  const nameColumns = nameColumnsOf(header, mapping, emailColumn);
  const known = await customFieldsOf(row.projectId);
  const wanted = wantedFields(header, mapping, [emailColumn, ...(nameColumns.length === 1 ? nameColumns : [])], known);
  const unknown = wanted.filter(({ existing }) => existing === undefined);
  if (!row.createFields) assertRequestedFieldsExist(unknown, mapping);
  const made = row.createFields ? await createFields(row, layout, header, unknown) : [];
  const fields = [
    ...wanted.flatMap(({ column, existing }) => (existing === undefined ? [] : [plannedField(column, existing)])),
    ...made,
  ];
  const isNew = new Set(made.map(({ column }) => column));
  const columns = header.names.map((name, column) => {
    const field = fields.find((each) => each.column === column);
    return {
      name: name.trim(),
      fields: [
        ...(column === emailColumn ? ['email'] : []),
        ...(nameColumns.includes(column) ? ['name'] : []),
        ...(field === undefined ? [] : [`customFields.${field.key}`]),
      ],
      type: field?.type ?? null,
      isNew: isNew.has(column),
    };
  });
  return { layout, lines, columns, emailColumn, nameColumns, fields, batchRows: BATCH_ROWS };
}

/** The columns that hold a reason, in the exports of several providers. */
const REASON_COLUMN = /^(reason|suppression[-_ ]?(reason|status)|status|type)$/i;

/** Plans a file of suppressions, of which only the address and the reason are imported. */
function planSuppressions({
  layout,
  lines,
  header,
  sample,
  emailColumn,
  mapping,
}: Pick<Plan, 'layout' | 'lines' | 'emailColumn'> & {
  header: Header;
  sample: readonly string[][];
  mapping: CheckedMapping;
}): Plan {
  const reasonColumn =
    mapping.reason === undefined
      ? header.names.findIndex(
          (name, column) => column !== emailColumn && REASON_COLUMN.test(name.trim()) && mayHoldReasons(sample, column),
        )
      : columnNamed(header, mapping.reason);
  const columns = header.names.map((name, column) => ({
    name: name.trim(),
    fields: [...(column === emailColumn ? ['email'] : []), ...(column === reasonColumn ? ['reason'] : [])],
    type: null,
    isNew: false,
  }));
  return { layout, lines, columns, emailColumn, nameColumns: [], reasonColumn, fields: [], batchRows: BATCH_ROWS };
}

/** A list of bounces has the server's reply in such a column: its rows get the reason for rows without one. */
function mayHoldReasons(sample: readonly string[][], column: number): boolean {
  const values = sample.map((row) => unguard(clean(row[column] ?? ''))).filter((value) => value !== '');
  return values.length === 0 || values.some((value) => reasonNamed(value) !== undefined);
}

const plannedField = (column: number, { key, type, options }: FieldSchema): PlannedField => ({
  column,
  key,
  type,
  options,
});

function emailColumnOf(header: Header, sample: readonly string[][], { email }: CheckedMapping): number {
  const column = email === undefined ? findEmailColumn(header, sample) : columnNamed(header, email);
  if (column !== -1) return column;
  throw new UnusableFile(`No column is named email or contains addresses; ${listColumns(header)}.`);
}

function nameColumnsOf(header: Header, { name }: CheckedMapping, emailColumn: number): number[] {
  return name === undefined
    ? findNameColumns(header.names, emailColumn)
    : name.map((each) => columnNamed(header, each));
}

/** Finds a column by name, case-insensitive. */
function columnNamed(header: Header, wanted: string): number {
  const column = header.names.findIndex((name) => sameName(name, wanted));
  if (column === -1) throw new UnusableFile(`No column is named "${wanted.slice(0, 100)}"; ${listColumns(header)}.`);
  return column;
}

const sameName = (a: string, b: string) => normalizeText(a).toLowerCase() === normalizeText(b).toLowerCase();
const listColumns = ({ names }: Header) =>
  `the columns are: ${names
    .slice(0, 50)
    .map((name) => name.trim().slice(0, 100))
    .join(', ')}`;

async function customFieldsOf(projectId: string): Promise<CustomField[]> {
  const { edges } = await listCustomFields(projectId, { first: 1000 });
  return edges.map(({ node }) => node).reverse();
}

/** The columns to import as custom fields: the requested ones, or all remaining ones. */
function wantedFields(
  header: Header,
  { customFields }: CheckedMapping,
  taken: readonly number[],
  known: readonly CustomField[],
): Wanted[] {
  if (customFields !== undefined) {
    return Object.entries(customFields).map(([key, name]) => ({
      column: columnNamed(header, name),
      key,
      existing: known.find((field) => field.key === key),
    }));
  }
  const keys = new Set(known.map(({ key }) => key));
  const used = new Set<string>();
  const ours = new Set(isExport(header) ? EXPORTED_FACTS : []);
  return header.names.flatMap((name, column) => {
    if (taken.includes(column)) return [];
    const existing = known.find((field) => !used.has(field.key) && isCalled(field, name, column));
    if (existing === undefined && ours.has(name.trim())) return [];
    const key = existing?.key ?? keyFor(name, column, keys);
    keys.add(key);
    used.add(key);
    return [{ column, key, existing }];
  });
}

const isCalled = ({ key, label }: CustomField, name: string, column: number) =>
  sameName(key, name) || sameName(label, name) || key === keyFor(name, column, new Set());

/** Columns of an export that an import ignores. */
export const EXPORTED_FACTS: readonly string[] = ['id', 'source', 'suppression_status', 'created_at', 'updated_at'];

const isExport = ({ names }: Header) => EXPORTED_FACTS.every((fact) => names.includes(fact));

/** Columns that match no custom field are skipped, unless the request maps them to one. @throws UnusableFile. */
function assertRequestedFieldsExist(unknown: readonly Wanted[], { customFields }: CheckedMapping): void {
  const [first] = unknown;
  if (customFields === undefined || first === undefined) return;
  throw new UnusableFile(
    `${first.key} is not a custom field of this project. Create it first, or allow the import to create fields.`,
  );
}

/** Creates a custom field for each column with values, of the guessed type. */
async function createFields(
  row: Import,
  layout: Layout,
  header: Header,
  unknown: readonly Wanted[],
): Promise<PlannedField[]> {
  if (unknown.length === 0) return [];
  const guesses = await guessTypes(row, layout, unknown);
  const fields: PlannedField[] = [];
  for (const { column, key } of unknown) {
    const guess = guesses.get(column);
    if (guess === undefined || guess.values === 0) continue;
    const { type, options = [] } = guess.type;
    const label = labelFor(header.names[column] ?? '', column)
      .slice(0, 200)
      .toWellFormed();
    const field = { key, label, type, options };
    fields.push(plannedField(column, row.dryRun ? field : await createOrUseField(row.projectId, field)));
  }
  return fields;
}

async function guessTypes(row: Import, layout: Layout, wanted: readonly Wanted[]): Promise<Map<number, TypeGuess>> {
  const guesses = new Map(wanted.map(({ column }) => [column, new TypeGuess()]));
  for await (const records of readRows(row, layout)) {
    for (const record of records) {
      const { values } = toRow(record, layout.width);
      if (values === undefined) continue;
      for (const [column, guess] of guesses) guess.add(unguard(clean(values[column] ?? '')));
    }
  }
  return guesses;
}

/** Creates a field, or uses the one with that key if it was created concurrently. */
async function createOrUseField(
  projectId: string,
  field: CreateCustomFieldInput & { options: string[] },
): Promise<FieldSchema> {
  try {
    const { type, options, ...rest } = field;
    return await createCustomField(projectId, { ...rest, type, ...(type === 'select' && { options }) });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const existing = (await customFieldsOf(projectId)).find(({ key }) => key === field.key);
    if (existing === undefined)
      throw new UnusableFile(`The custom field ${field.key} can't be created: ${error.message}`);
    return existing;
  }
}

/** The plan of an import, or null before it has been inspected. */
export const planOf = ({ plan }: Pick<Import, 'plan'>): Plan | null => plan as unknown as Plan | null;
