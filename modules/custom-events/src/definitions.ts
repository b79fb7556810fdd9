import {
  db,
  type FieldProblem,
  assertValid,
  inTransaction,
  invalid,
  isId,
  jsonProblem,
  notFound,
  type Page,
  type PageArgs,
  pool,
  type Prisma,
  readRows,
  type RowsQuery,
  sql,
} from '@postroom/platform';
import { DEFINITION_ID, MAX_PROPERTIES } from './event-schema.ts';
import { PROPERTY_TYPES, type PropertyType, typeOf } from './properties.ts';

export const MAX_DESCRIPTION_LENGTH = 500;
/** Days that `countsOf` covers, today included. */
export const COUNTED_DAYS = 30;

type Definition = Prisma.CustomEventDefinitionModel;

/** Changes to a property of a definition; what is omitted stays. */
interface PropertyChange {
  name: string;
  description?: string | null | undefined;
  /** The declared type; null declares none. */
  type?: PropertyType | null | undefined;
  /** The value to assume for events without the property; null for none. */
  defaultValue?: unknown;
  /** Removes the property from the schema. It returns with the next event that has it, unless the schema is locked. */
  remove?: boolean | null | undefined;
}

export interface DefinitionChange {
  description?: string | null | undefined;
  locked?: boolean | null | undefined;
  properties?: readonly PropertyChange[] | null | undefined;
}

/** @throws DomainError `not_found`. */
export async function getDefinition(projectId: string, id: string, query: RowsQuery = {}): Promise<Definition> {
  const found = isId(DEFINITION_ID, id)
    ? await db.customEventDefinition.findFirst({ ...query, where: { id, projectId } })
    : null;
  if (found === null) throw notFound('event definition');
  return found;
}

/** The project's event definitions, newest name first. */
export function listDefinitions(projectId: string, page: PageArgs, query: RowsQuery): Promise<Page<Definition>> {
  return readRows(db.customEventDefinition, DEFINITION_ID, page, { projectId }, query);
}

/** The events of a name on a day. */
export interface DayCount {
  /** In UTC, YYYY-MM-DD. */
  day: string;
  eventCount: number;
}

/** How many events of each name occurred on each of the last `COUNTED_DAYS` days, by name, oldest day first. */
export async function countsOf(projectId: string, names: readonly string[]): Promise<Map<string, DayCount[]>> {
  const { rows } = await pool.query<DayCount & { name: string }>(
    `SELECT name, to_char(dates.day, 'YYYY-MM-DD') AS day, coalesce(event_count, 0)::float8 AS "eventCount"
       FROM unnest($2::text[]) AS asked(name)
       CROSS JOIN (SELECT (now() AT TIME ZONE 'UTC')::date - ago AS day FROM generate_series(0, ${COUNTED_DAYS - 1}) AS ago) AS dates
       LEFT JOIN (SELECT name, day, event_count FROM custom_event_days WHERE project_id = $1) AS counted USING (name, day)
      ORDER BY name, day`,
    [projectId, names],
  );
  return Map.groupBy(rows, ({ name }) => name);
}

const UPDATE_PROPERTY = `
  UPDATE custom_event_properties SET description = coalesce($3, description),
    type = CASE WHEN $4 THEN $5 ELSE type END, default_value = CASE WHEN $6 THEN $7::jsonb ELSE default_value END
   WHERE definition_id = $1 AND name = $2`;

/**
 * Changes the description of an event name and of its properties, and whether events that do not match are rejected.
 * @throws DomainError `not_found`, or `validation_error` naming each invalid member.
 */
export async function updateDefinition(projectId: string, id: string, change: DefinitionChange): Promise<void> {
  await getDefinition(projectId, id, { select: { id: true } });
  const properties = change.properties ?? [];
  if (properties.length > MAX_PROPERTIES)
    throw invalid({ field: 'properties', message: `must be at most ${MAX_PROPERTIES} properties` });
  const names = properties.map(({ name }) => name);
  assertValid([
    ...descriptionProblems('description', change.description),
    ...properties.flatMap((property, index) => propertyProblems(`properties.${index}`, property)),
    ...names.flatMap((name, index) =>
      names.indexOf(name) === index ? [] : [{ field: `properties.${index}.name`, message: 'must not be repeated' }],
    ),
  ]);
  await inTransaction(async (tx) => {
    const [definition] = await sql(
      tx,
      `UPDATE custom_event_definitions SET description = coalesce($3, description), locked = coalesce($4, locked)
        WHERE id = $1 AND project_id = $2 RETURNING id`,
      [id, projectId, change.description?.trim(), change.locked],
    );
    if (definition === undefined) throw notFound('event definition');
    const known = await sql<{ name: string; types: PropertyType[]; type: PropertyType | null }>(
      tx,
      'SELECT name, types, type FROM custom_event_properties WHERE definition_id = $1 ORDER BY name FOR UPDATE',
      [id],
    );
    const byName = new Map(known.map((property) => [property.name, property]));
    assertValid(
      properties.flatMap((property, index) => {
        const stored = byName.get(property.name);
        return stored === undefined
          ? [{ field: `properties.${index}.name`, message: 'is not a property of this event' }]
          : defaultProblems(`properties.${index}.defaultValue`, property, stored);
      }),
    );
    for (const property of properties) {
      if (property.remove === true)
        await sql(tx, 'DELETE FROM custom_event_properties WHERE definition_id = $1 AND name = $2', [
          id,
          property.name,
        ]);
      else
        await sql(tx, UPDATE_PROPERTY, [
          id,
          property.name,
          property.description?.trim(),
          property.type !== undefined,
          property.type,
          property.defaultValue !== undefined,
          property.defaultValue == null ? null : JSON.stringify(property.defaultValue),
        ]);
    }
  });
}

/**
 * Removes an event name from the schema. Its events stay, and the name returns with the next one.
 * @throws DomainError `not_found`.
 */
export async function deleteDefinition(projectId: string, id: string): Promise<void> {
  const { count } = await db.customEventDefinition.deleteMany({ where: { id, projectId } });
  if (count === 0) throw notFound('event definition');
}

function descriptionProblems(field: string, description: string | null | undefined): FieldProblem[] {
  return (description ?? '').length > MAX_DESCRIPTION_LENGTH
    ? [{ field, message: `must be at most ${MAX_DESCRIPTION_LENGTH} characters` }]
    : [];
}

function propertyProblems(at: string, { description, type, defaultValue }: PropertyChange): FieldProblem[] {
  const problems = descriptionProblems(`${at}.description`, description);
  if (type != null && !PROPERTY_TYPES.includes(type))
    problems.push({ field: `${at}.type`, message: `must be one of: ${PROPERTY_TYPES.join(', ')}` });
  const unstorable = jsonProblem(defaultValue);
  if (unstorable !== undefined) problems.push({ field: `${at}.defaultValue`, message: unstorable.message });
  if (JSON.stringify(defaultValue ?? null).length > MAX_DEFAULT_LENGTH)
    problems.push({ field: `${at}.defaultValue`, message: `must be at most ${MAX_DEFAULT_LENGTH} characters of JSON` });
  return problems;
}

/** Maximum length of a default, in characters of JSON. */
const MAX_DEFAULT_LENGTH = 1_000;

/** A default must have a type that the property may have. */
function defaultProblems(
  field: string,
  change: PropertyChange,
  stored: { types: PropertyType[]; type: PropertyType | null },
): FieldProblem[] {
  if (change.defaultValue == null) return [];
  const declared = change.type === undefined ? stored.type : change.type;
  const types = declared === null ? stored.types : [declared];
  return types.includes(typeOf(change.defaultValue))
    ? []
    : [{ field, message: `must be of type ${types.join(' or ')}` }];
}
