import { defineIdPrefix, type FieldProblem, newId, sql, type Tx } from '@postroom/platform';
import type { CheckedEvent } from './check-event.ts';
import type { Observation, PropertyType } from './properties.ts';

export const DEFINITION_ID = defineIdPrefix('ced', 'event definition');

/** Maximum number of event names in a project. More are rejected: a name with an id in it would create any number. */
export const MAX_EVENT_NAMES = 500;
/** Maximum number of properties recorded for a name. Events with more are accepted, but the schema lacks the others. */
export const MAX_PROPERTIES = 200;
/** How old `last_seen_at` may become, in milliseconds: it is not written for each event. */
const SEEN_MS = 60_000;

interface Property {
  name: string;
  types: PropertyType[];
  type: PropertyType | null;
  /** Whether it was seen within `SEEN_MS`. */
  recent: boolean;
}

interface Definition {
  id: string;
  locked: boolean;
  recent: boolean;
  properties: Map<string, Property>;
}

/** The definitions of a project's event names, by name. */
export type EventSchema = ReadonlyMap<string, Definition>;

const READ = `
  SELECT d.id, d.name, d.locked, d.last_seen_at > now() - $3 * interval '1 ms' AS recent,
    (SELECT json_agg(json_build_object('name', p.name, 'types', p.types, 'type', p.type,
        'recent', p.last_seen_at > now() - $3 * interval '1 ms' AND p.example IS NOT NULL))
      FROM custom_event_properties p WHERE p.definition_id = d.id) AS properties
    FROM custom_event_definitions d WHERE d.project_id = $1 AND d.name = ANY ($2)`;

/** The definitions of these names, without those that are new. */
export async function readSchema(tx: Tx, projectId: string, names: readonly string[]): Promise<EventSchema> {
  const rows = await sql<Omit<Definition, 'properties'> & { name: string; properties: Property[] | null }>(tx, READ, [
    projectId,
    names,
    SEEN_MS,
  ]);
  return new Map(
    rows.map(({ name, properties, ...row }) => [
      name,
      { ...row, properties: new Map((properties ?? []).map((property) => [property.name, property])) },
    ]),
  );
}

/** Why an event does not match its definition, if that is locked. */
export function schemaProblem(schema: EventSchema, { name, observed }: CheckedEvent): FieldProblem | undefined {
  const definition = schema.get(name);
  if (definition?.locked !== true) return undefined;
  for (const { name: property, type } of observed) {
    const expected = expectedTypes(definition.properties.get(property));
    const field = `properties.${property}`;
    if (expected === undefined) return { field, message: `is not in the schema of "${name}", which is locked` };
    if (!expected.includes(type))
      return { field, message: `must be of type ${expected.join(' or ')}: the schema of "${name}" is locked` };
  }
  return undefined;
}

const expectedTypes = (property: Property | undefined): readonly PropertyType[] | undefined =>
  property === undefined ? undefined : property.type === null ? property.types : [property.type];

/** What a batch says about an event name, by property. */
type Observed = Map<string, Map<string, Observation & { types: Set<PropertyType> }>>;

function observedIn(events: readonly CheckedEvent[]): Observed {
  const names: Observed = new Map();
  for (const event of events) {
    const properties = names.get(event.name) ?? new Map();
    names.set(event.name, properties);
    for (const observation of event.observed) {
      const known = properties.get(observation.name);
      if (known === undefined) properties.set(observation.name, { ...observation, types: new Set([observation.type]) });
      else known.types.add(observation.type);
    }
  }
  return names;
}

/** Whether the schema lacks something that was observed, or has not been updated for a while. */
function isOutdated(schema: EventSchema, observed: Observed): boolean {
  for (const [name, properties] of observed) {
    const definition = schema.get(name);
    if (definition === undefined || !definition.recent) return true;
    const isFull = definition.properties.size >= MAX_PROPERTIES;
    for (const { name: property, types } of properties.values()) {
      const known = definition.properties.get(property);
      if (known === undefined ? !isFull : !known.recent || [...types].some((type) => !known.types.includes(type)))
        return true;
    }
  }
  return false;
}

const LOCK = `SELECT pg_advisory_xact_lock(hashtextextended($1, 7))`;

const ADD_NAMES = `
  INSERT INTO custom_event_definitions (id, project_id, name)
  SELECT n.id, $1, n.name FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS n(id, name, place)
   WHERE NOT EXISTS (SELECT FROM custom_event_definitions d WHERE d.project_id = $1 AND d.name = n.name)
   ORDER BY n.place LIMIT greatest(0, ${MAX_EVENT_NAMES} - (SELECT count(*) FROM custom_event_definitions WHERE project_id = $1))`;

const TOUCH_NAMES = `
  UPDATE custom_event_definitions SET last_seen_at = now() WHERE project_id = $1 AND name = ANY ($2)`;

const WRITE_PROPERTIES = `
  INSERT INTO custom_event_properties AS p (definition_id, name, types, example)
  SELECT g.definition_id, g.name, ARRAY(SELECT json_array_elements_text(g.types) ORDER BY 1), g.example
    FROM json_to_recordset($1::json) AS g(definition_id text, name text, types json, example text)
  ON CONFLICT (definition_id, name) DO UPDATE SET
    types = ARRAY(SELECT DISTINCT t FROM unnest(p.types || excluded.types) AS t ORDER BY t),
    example = coalesce(p.example, excluded.example), last_seen_at = now()`;

/**
 * Adds what events show about their names and properties to the project's schema, in the caller's transaction. Most batches
 * show nothing that `current`, the schema of their names, lacks. A lock of the project, held until the commit, makes the limits
 * exact.
 * @returns the names that are not in the schema because it is full.
 */
export async function extendSchema(
  tx: Tx,
  projectId: string,
  current: EventSchema,
  events: readonly CheckedEvent[],
): Promise<{ refused: ReadonlySet<string> }> {
  const observed = observedIn(events);
  const names = [...observed.keys()];
  if (!isOutdated(current, observed)) return { refused: new Set() };
  await sql(tx, LOCK, [projectId]);
  await sql(tx, ADD_NAMES, [projectId, names.map(() => newId(DEFINITION_ID)), names]);
  await sql(tx, TOUCH_NAMES, [projectId, names]);
  const schema = await readSchema(tx, projectId, names);
  const written = [...observed].flatMap(([name, properties]) => {
    const definition = schema.get(name);
    if (definition === undefined) return [];
    let free = MAX_PROPERTIES - definition.properties.size;
    return [...properties.values()]
      .filter((property) => definition.properties.has(property.name) || free-- > 0)
      .map((property) => ({
        definition_id: definition.id,
        name: property.name,
        types: [...property.types],
        example: property.example,
      }));
  });
  if (written.length > 0) await sql(tx, WRITE_PROPERTIES, [JSON.stringify(written)]);
  return { refused: new Set(names.filter((name) => !schema.has(name))) };
}
