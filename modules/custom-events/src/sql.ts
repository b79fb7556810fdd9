/** SQL of custom events that other modules run, and the conditions of segments on them. This file imports nothing. */

/** How late an event may be recorded: partitions before that hold none that was received recently. */
const LATE = `interval '31 days'`;

/**
 * Events of contacts that were received after a time. Parameters: the project, and arrays of a number that the rows return as
 * `place`, the contact, the name, the time, and whether events received at that very time are left out.
 *
 * The name is compared as an expression to keep PostgreSQL from reading all events of that name: without statistics, as after many
 * new events, that looks as cheap to it as reading those of the contact.
 */
export const EVENTS_RECEIVED_SINCE = `
  SELECT n.place, e.properties FROM unnest($2::int[], $3::text[], $4::text[], $5::timestamptz[], $6::bool[])
    AS n(place, contact_id, name, since, is_after)
  JOIN LATERAL (
    SELECT properties FROM custom_events e WHERE e.project_id = $1 AND e.contact_id = n.contact_id
      AND e.occurred_at >= n.since - ${LATE} AND (e.name || '') = n.name AND e.received_at >= n.since AND NOT (n.is_after AND e.received_at = n.since)
     ORDER BY e.occurred_at DESC LIMIT 20
  ) AS e ON true`;

/** The values that a project declared for events without a property, of the names in `$2`. */
export const DECLARED_DEFAULTS = `
  SELECT d.name AS event, p.name, p.default_value AS value FROM custom_event_definitions d
  JOIN custom_event_properties p ON p.definition_id = d.id
  WHERE d.project_id = $1 AND d.name = ANY ($2) AND p.default_value IS NOT NULL`;

/** Which events of a contact count. All are SQL expressions. */
interface CountedEvents {
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
 * with them it reads the events. The planner reads either once for all contacts of the project. With `fewContacts` it looks up each
 * contact by index instead: OFFSET 0 keeps it from joining with all events of the name.
 * @param times SQL of the number; 1 if omitted.
 */
function contactHadEvents(
  { name, since, before, properties }: CountedEvents,
  { times, fewContacts }: { times?: string; fewContacts: boolean },
): string {
  const offset = fewContacts ? ' OFFSET 0' : '';
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
    return `EXISTS (SELECT FROM ${table} e WHERE e.project_id = c.project_id AND e.contact_id = c.id AND ${conditions}${offset})`;
  const total = isRaw ? 'count(*)' : 'sum(e.event_count)';
  return `EXISTS (SELECT FROM (
      SELECT e.project_id, e.contact_id FROM ${table} e WHERE ${conditions}
      GROUP BY e.project_id, e.contact_id HAVING ${total} >= ${times}
    ) AS n WHERE n.project_id = c.project_id AND n.contact_id = c.id${offset})`;
}

/** What an operator of a property takes. */
type PropertyOperand = 'any' | 'text' | 'number' | 'nothing';

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
  `coalesce(CASE jsonb_typeof(${at(path)}) WHEN 'string' THEN position(lower(${given} #>> '{}') IN lower(${at(path)} #>> '{}')) > 0
    WHEN 'array' THEN ${at(path)} @> jsonb_build_array(${given}) END, false)`;
const isSet: Sql = (path) => `coalesce(${at(path)} <> 'null', false)`;

/**
 * The operators of conditions on properties of the event `e`, as those of journeys: what they take, and their SQL for the SQL of a path
 * and of the operand, as jsonb.
 */
const PROPERTY_OPERATORS: Record<string, { takes: PropertyOperand; sql: Sql }> = {
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

/** The parameters of a statement, which collects their values. */
interface Parameters {
  add: (value: unknown) => string;
  /** Whether the statement reads a few contacts by id. */
  fewContacts: boolean;
}

/** Which custom events a condition is about. */
export interface EventCondition {
  /** The name of the events. */
  event: string;
  /** How many at least; 1 if omitted. */
  times?: number;
  /** Conditions on their properties, which must all hold. */
  where?: PropertyCondition[];
}

interface PropertyCondition {
  property: string;
  op: string;
  value?: string | number | boolean;
}

/** The members of a condition on events. */
export const EVENT_MEMBERS = ['event', 'times', 'where'];
const MAX_TIMES = 10_000;
const MAX_WHERE = 10;

/** How the caller reads names and texts. */
interface Readers {
  camelCase: (name: string) => string;
  nameProblem: (name: string) => string | undefined;
  isText: (given: unknown) => given is string;
}

interface Problem {
  field: string;
  message: string;
}

/** Reads `event`, `times` and `where` of a condition. Problems name the member. */
export function readEventCondition(given: Record<string, unknown>, readers: Readers): EventCondition | Problem {
  const { event, times, where } = given;
  const nameProblem = typeof event === 'string' ? readers.nameProblem(event) : 'is required: the name of an event';
  if (nameProblem !== undefined) return { field: 'event', message: nameProblem };
  if (times !== undefined && !(Number.isInteger(times) && (times as number) >= 1 && (times as number) <= MAX_TIMES))
    return { field: 'times', message: `must be a whole number between 1 and ${MAX_TIMES}` };
  const read: EventCondition = { event: (event as string).trim().normalize() };
  if (times !== undefined && times !== 1) read.times = times as number;
  if (where === undefined) return read;
  if (!Array.isArray(where) || where.length === 0 || where.length > MAX_WHERE)
    return { field: 'where', message: `must be an array of 1 to ${MAX_WHERE} conditions on properties` };
  const conditions: PropertyCondition[] = [];
  for (const [index, each] of where.entries()) {
    const condition = readPropertyCondition(each, readers);
    if ('message' in condition)
      return { ...condition, field: ['where', index, condition.field].filter((part) => part !== '').join('.') };
    conditions.push(condition);
  }
  return { ...read, where: conditions };
}

function readPropertyCondition(given: unknown, { camelCase, isText }: Readers): PropertyCondition | Problem {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return { field: '', message: 'must be an object with property, op and value' };
  const { property, op: givenOp, value, ...others } = given as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return { field: unknown, message: 'is not a known field' };
  if (!isText(property)) return { field: 'property', message: A_STRING };
  const op = typeof givenOp === 'string' ? camelCase(givenOp) : '';
  const operator = Object.hasOwn(PROPERTY_OPERATORS, op) ? PROPERTY_OPERATORS[op] : undefined;
  if (operator === undefined)
    return { field: 'op', message: `must be one of: ${Object.keys(PROPERTY_OPERATORS).join(', ')}` };
  const [isValid, message] = OPERANDS[operator.takes];
  if (!isValid(value, isText)) return { field: 'value', message };
  return operator.takes === 'nothing' ? { property, op } : { property, op, value: value as string };
}

const A_STRING = 'must be a string of 1 to 500 characters';
const OPERANDS: Record<
  PropertyOperand,
  [isValid: (given: unknown, isText: Readers['isText']) => boolean, problem: string]
> = {
  nothing: [(given) => given == null, 'must be omitted'],
  number: [(given) => Number.isFinite(given), 'must be a number'],
  text: [(given, isText) => isText(given), A_STRING],
  any: [
    (given, isText) => Number.isFinite(given) || typeof given === 'boolean' || isText(given),
    'must be a string, a number, true or false',
  ],
};

/** The SQL of whether the contact `c` had as many of the events in these days. All values become parameters. */
export function eventSql(
  { event, times, where }: EventCondition,
  { since, before }: { since?: string | undefined; before?: string | undefined },
  parameters: Parameters,
): string {
  const counted = {
    name: parameters.add(event),
    ...(since === undefined ? {} : { since: parameters.add(since) }),
    ...(before === undefined ? {} : { before: parameters.add(before) }),
    ...(where === undefined ? {} : { properties: where.map((each) => propertySql(each, parameters)).join(' AND ') }),
  };
  return contactHadEvents(counted, {
    ...(times === undefined ? {} : { times: `${parameters.add(times)}::int` }),
    fewContacts: parameters.fewContacts,
  });
}

function propertySql({ property, op, value }: PropertyCondition, parameters: Parameters): string {
  const operator = PROPERTY_OPERATORS[op];
  if (operator === undefined) throw new Error(`A stored segment uses the unknown operator ${op} of a property.`);
  const path = `${parameters.add(property)}::text`;
  if (operator.takes === 'nothing') return operator.sql(path, '');
  return operator.sql(path, `${parameters.add(JSON.stringify(value))}::jsonb`);
}
