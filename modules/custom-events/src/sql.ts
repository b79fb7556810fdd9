/** SQL of custom events that other modules run. This file imports nothing. */

/** How late an event may be recorded: partitions before that hold none that was received recently. */
const LATE = `interval '31 days'`;

/**
 * Events of contacts that were received after a time. Parameters: the project, and arrays of a number that the rows return as
 * `place`, the contact, the name, the time, and whether events received at that very time are left out.
 */
export const EVENTS_RECEIVED_SINCE = `
  SELECT n.place, e.properties FROM unnest($2::int[], $3::text[], $4::text[], $5::timestamptz[], $6::bool[])
    AS n(place, contact_id, name, since, is_after)
  JOIN LATERAL (
    SELECT properties FROM custom_events e WHERE e.project_id = $1 AND e.contact_id = n.contact_id
      AND e.occurred_at >= n.since - ${LATE} AND e.name = n.name AND e.received_at >= n.since AND NOT (n.is_after AND e.received_at = n.since)
     ORDER BY e.occurred_at DESC LIMIT 20
  ) AS e ON true`;

/** The values that a project declared for events without a property, of the names in `$2`. */
export const DECLARED_DEFAULTS = `
  SELECT d.name AS event, p.name, p.default_value AS value FROM custom_event_definitions d
  JOIN custom_event_properties p ON p.definition_id = d.id
  WHERE d.project_id = $1 AND d.name = ANY ($2) AND p.default_value IS NOT NULL`;

/** Which events of a contact count. All are SQL expressions. */
export interface CountedEvents {
  name: string;
  /** The first day of those that count, in UTC; all days if omitted. */
  since?: string | undefined;
  /** The first day of those that no longer count; none if omitted. */
  before?: string | undefined;
  /** The conditions on the properties of the event `e`; none if omitted. */
  properties?: string | undefined;
}

/**
 * Whether the contact `c` had at least a number of the events. Without conditions on properties it reads a row per contact and day;
 * with them it reads the events. The planner reads either once for all contacts of the project.
 * @param times SQL of the number; 1 if omitted.
 */
export function contactHadEvents({ name, since, before, properties }: CountedEvents, times?: string): string {
  const isRaw = properties !== undefined;
  const [table, at] = isRaw ? ['custom_events', 'occurred_at'] : ['custom_event_contact_days', 'day'];
  const bound = (day: string) => (isRaw ? `${day}::date::timestamp AT TIME ZONE 'UTC'` : `${day}::date`);
  const conditions = [
    `e.name = ${name}`,
    ...(since === undefined ? [] : [`e.${at} >= ${bound(since)}`]),
    ...(before === undefined ? [] : [`e.${at} < ${bound(before)}`]),
    ...(properties === undefined ? [] : [properties]),
  ].join(' AND ');
  if (times === undefined)
    return `EXISTS (SELECT FROM ${table} e WHERE e.project_id = c.project_id AND e.contact_id = c.id AND ${conditions})`;
  const total = isRaw ? 'count(*)' : 'sum(e.event_count)';
  return `((c.project_id, c.id) IN (SELECT e.project_id, e.contact_id FROM ${table} e WHERE ${conditions}
    GROUP BY e.project_id, e.contact_id HAVING ${total} >= ${times}))`;
}

/** What an operator of a property takes. */
export type PropertyOperand = 'any' | 'text' | 'number' | 'nothing';

type Sql = (path: string, given: string) => string;

/** The value at a path such as `cart.total`, as jsonb; NULL without it. */
const at = (path: string) => `coalesce(e.properties -> ${path}, e.properties #> string_to_array(${path}, '.'))`;
const not =
  (sql: Sql): Sql =>
  (path, given) =>
    `NOT ${sql(path, given)}`;
const compared =
  (sign: string): Sql =>
  (path, given) =>
    `coalesce(jsonb_typeof(${at(path)}) = 'number' AND ${at(path)} ${sign} ${given}, false)`;
const contains: Sql = (path, given) =>
  `coalesce(CASE jsonb_typeof(${at(path)}) WHEN 'string' THEN lower(${at(path)} #>> '{}') LIKE lower(${given} #>> '{0}')
    WHEN 'array' THEN ${at(path)} @> jsonb_build_array(${given} -> 1) END, false)`;
const isSet: Sql = (path) => `coalesce(${at(path)} <> 'null', false)`;

/**
 * The operators of conditions on properties of the event `e`, as those of journeys: what they take, and their SQL for the SQL of a path
 * and of the operand, as jsonb. A text is a list of its LIKE pattern and itself.
 */
export const PROPERTY_OPERATORS: Record<string, { takes: PropertyOperand; sql: Sql }> = {
  is: { takes: 'any', sql: (path, given) => `coalesce(${at(path)} = ${given}, false)` },
  isNot: { takes: 'any', sql: (path, given) => `(${at(path)} IS DISTINCT FROM ${given})` },
  contains: { takes: 'text', sql: contains },
  notContains: { takes: 'text', sql: not(contains) },
  moreThan: { takes: 'number', sql: compared('>') },
  lessThan: { takes: 'number', sql: compared('<') },
  atLeast: { takes: 'number', sql: compared('>=') },
  atMost: { takes: 'number', sql: compared('<=') },
  isSet: { takes: 'nothing', sql: isSet },
  isNotSet: { takes: 'nothing', sql: not(isSet) },
};
