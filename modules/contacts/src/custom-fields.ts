import {
  coalesceReads,
  conflictIfTaken,
  db,
  DomainError,
  inPages,
  inTransaction,
  invalid,
  isId,
  newId,
  notFound,
  type Page,
  type PageArgs,
  pool,
  type Prisma,
  readRows,
  sql,
  type Tx,
  checkDisplayName,
  checkLimit,
} from '@postroom/platform';
import { RESERVED_KEYS } from '@postroom/csv';
import {
  checkOptions,
  CUSTOM_FIELD_TYPES,
  type CustomFieldType,
  type FieldSchema,
  type Schema,
} from '@postroom/custom-fields';

export type CustomField = Prisma.CustomFieldModel;

export interface CreateCustomFieldInput {
  key: string;
  label?: string | null | undefined;
  type: CustomFieldType;
  options?: readonly string[] | null | undefined;
}

export interface UpdateCustomFieldInput {
  label?: string | null | undefined;
  options?: readonly string[] | null | undefined;
}

const KEY = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
const MAX_FIELDS = 200;

/** The project's custom-field schema, newest field first. */
export async function listCustomFields(projectId: string, args: PageArgs): Promise<Page<CustomField>> {
  return readRows(db.customField, 'fld', args, { projectId });
}

/** The project's custom fields with these ids, in any order; ids that do not exist are omitted. */
export async function findCustomFields(projectId: string, ids: string[]): Promise<CustomField[]> {
  return db.customField.findMany({ where: { projectId, id: { in: ids } } });
}

/** A custom field of the project, or `not_found`. */
export async function getCustomField(projectId: string, id: string): Promise<CustomField> {
  const [field] = isId('fld', id) ? await findCustomFields(projectId, [id]) : [];
  if (field === undefined) throw notFound('custom field');
  return field;
}

/**
 * Adds a field to the project's schema. The label defaults to the key.
 * @throws DomainError `validation_error` for a bad key, label or options, `conflict` when the key is taken.
 */
export async function createCustomField(projectId: string, input: CreateCustomFieldInput): Promise<CustomField> {
  const key = input.key.trim();
  if (!KEY.test(key)) {
    throw invalid({
      field: 'key',
      message: 'must begin with a letter and have at most 64 letters, digits and underscores',
    });
  }
  if (RESERVED_KEYS.has(key.toLowerCase()))
    throw invalid({ field: 'key', message: `must not be ${key}: this name is reserved` });
  if (!CUSTOM_FIELD_TYPES.includes(input.type)) {
    throw invalid({ field: 'type', message: `must be one of: ${CUSTOM_FIELD_TYPES.join(', ')}` });
  }
  const label = checkDisplayName(input.label ?? key, 'label');
  const options = checkOptions(input.type, input.options);
  return db.$transaction(async (tx) => {
    const created = await tx.customField
      .create({ data: { id: newId('fld'), projectId, key, label, type: input.type, options } })
      .catch(conflictIfTaken('key', `A custom field with the key "${key}" already exists.`));
    const limit = { of: projectId, rows: 'custom fields', max: MAX_FIELDS };
    await checkLimit(tx, limit, () => tx.customField.count({ where: { projectId } }));
    return created;
  });
}

/**
 * Changes the label or the options. Key and type are immutable, because values and segments rely on them; values whose
 * option is removed stay until they are next written.
 */
export async function updateCustomField(
  projectId: string,
  id: string,
  input: UpdateCustomFieldInput,
): Promise<CustomField> {
  const field = await getCustomField(projectId, id);
  const data = {
    ...(input.label == null ? {} : { label: checkDisplayName(input.label, 'label') }),
    ...(input.options == null ? {} : { options: checkOptions(field.type, input.options) }),
  };
  return db.$transaction((tx) => tx.customField.update({ where: { id }, data }));
}

/** Contacts per transaction while the values of a field are removed. */
const PAGE = 5_000;

const REMOVE_VALUES = `
  WITH page AS (
    SELECT id FROM contacts WHERE project_id = $1 AND custom_fields ? $2 AND id > $3 ORDER BY id LIMIT ${PAGE}
  ), changed AS (
    UPDATE contacts c SET custom_fields = c.custom_fields - $2 FROM page WHERE c.id = page.id
  )
  SELECT CASE WHEN count(*) = ${PAGE} THEN max(id) END AS last FROM page`;

/**
 * Removes a field from the schema and its values from all contacts, so that a later field with the same key starts
 * empty. Interrupted, it leaves the field with fewer values.
 * @throws DomainError `not_found`, `conflict` naming a segment that filters by it.
 */
export async function deleteCustomField(projectId: string, id: string): Promise<void> {
  const { key } = await getCustomField(projectId, id);
  await inPages(projectId, (after) => inTransaction((tx) => deletePage(tx, { projectId, id, key }, after)));
}

/** Removes values from a page of contacts, and with the last ones the field. @returns the last contact; null if that was all. */
async function deletePage(
  tx: Tx,
  { projectId, id, key }: { projectId: string; id: string; key: string },
  after: string,
): Promise<string | null> {
  await sql(tx, 'SELECT FROM custom_fields WHERE id = $1 FOR UPDATE', [id]);
  const [user] = await sql<{ name: string }>(
    tx,
    `SELECT name FROM segments WHERE project_id = $1
       AND jsonb_path_exists(filter, '$.** ? (@.field == $field)', jsonb_build_object('field', $2::text)) LIMIT 1`,
    [projectId, `customFields.${key}`],
  );
  if (user !== undefined) throw new DomainError('conflict', `The segment "${user.name}" filters by this field.`);
  const [page] = await sql<{ last: string | null }>(tx, REMOVE_VALUES, [projectId, key, after]);
  if (page?.last != null) return page.last;
  // Values that were written meanwhile to contacts before this page.
  await sql(tx, 'UPDATE contacts SET custom_fields = custom_fields - $2 WHERE project_id = $1 AND custom_fields ? $2', [
    projectId,
    key,
  ]);
  await sql(tx, 'DELETE FROM custom_fields WHERE id = $1', [id]);
  return null;
}

/** Reads the schema that a project's values are coerced against. */
export async function readSchema(tx: Tx, projectId: string): Promise<Schema> {
  const rows = await sql<FieldSchema>(tx, 'SELECT key, type, options FROM custom_fields WHERE project_id = $1', [
    projectId,
  ]);
  return new Map(rows.map((row) => [row.key, row]));
}

/** Reads the schema outside of a transaction; concurrent calls share one statement. */
export const schemaOf = async (projectId: string): Promise<Schema> => (await readSchemas(projectId)) ?? new Map();

/** The names of values that a contact may lack. Placeholders for them show nothing then. */
export const namesThatMayBeBlank = async (projectId: string): Promise<string[]> => [
  'name',
  ...(await schemaOf(projectId)).keys(),
];

/** Why values of a field can't name time zones; undefined if they can. */
export function timeZoneFieldProblem(schema: Schema, key: string): string | undefined {
  const field = schema.get(key);
  if (field === undefined) return `"${key}" is not a custom field of this project`;
  if (field.type === 'text' || field.type === 'select') return undefined;
  return `must be a custom field of type text or select; "${key}" is of type ${field.type}`;
}

const readSchemas = coalesceReads<Schema>(async (projectIds) => {
  const { rows } = await pool.query<FieldSchema & { projectId: string }>(
    'SELECT project_id AS "projectId", key, type, options FROM custom_fields WHERE project_id = ANY ($1)',
    [projectIds],
  );
  const byProject = Map.groupBy(rows, ({ projectId }) => projectId);
  return new Map([...byProject].map(([id, fields]) => [id, new Map(fields.map((field) => [field.key, field]))]));
});
