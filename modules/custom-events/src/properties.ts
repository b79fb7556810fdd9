import { invalid, textProblem, displayNameProblem } from '@postroom/platform';

/** The types of property values. A text that is an ISO 8601 date, with or without a time, is a date. */
export const PROPERTY_TYPES = ['array', 'boolean', 'date', 'number', 'object', 'string'] as const;
export type PropertyType = (typeof PROPERTY_TYPES)[number];

/** Maximum size of an event's properties as JSON, in bytes. */
export const MAX_PROPERTIES_BYTES = 16_384;
/** Maximum nesting of objects and arrays in an event's properties. */
const MAX_PROPERTY_DEPTH = 5;
/** Maximum number of values in an event's properties, members of objects and arrays included. */
export const MAX_PROPERTY_VALUES = 250;
/** Maximum length of a key, in characters. */
const MAX_PROPERTY_KEY_LENGTH = 100;
/** Maximum length of a property's path. */
export const MAX_PROPERTY_NAME_LENGTH = MAX_PROPERTY_DEPTH * (MAX_PROPERTY_KEY_LENGTH + 1) - 1;
/** Length of an example, in characters. */
export const EXAMPLE_LENGTH = 100;

/** A property of one event: the path, such as `cart.total`, its type, and an example of its value. */
export interface Observation {
  name: string;
  type: PropertyType;
  example: string;
}

/** The properties of an event as JSON, and the types of those that have a value. */
export interface CheckedProperties {
  json: string;
  observed: Observation[];
}

/**
 * Validates the properties of an event. An array is one value; members of objects are properties with a path.
 * @throws DomainError `validation_error` that names the property.
 */
export function checkProperties(properties: unknown): CheckedProperties {
  if (properties == null) return { json: '{}', observed: [] };
  if (typeof properties !== 'object' || Array.isArray(properties))
    throw invalid({ field: 'properties', message: 'must be an object' });
  const walk = { values: 0, observed: [] as Observation[] };
  visit(properties, '', 1, walk);
  const json = JSON.stringify(properties);
  if (Buffer.byteLength(json) > MAX_PROPERTIES_BYTES)
    throw invalid({ field: 'properties', message: `must be at most ${MAX_PROPERTIES_BYTES} bytes of JSON` });
  return { json, observed: walk.observed };
}

interface Walk {
  values: number;
  observed: Observation[];
}

/** Visits the members of an object or array, whose depth is bounded, and observes those outside arrays. */
function visit(parent: object, path: string, depth: number, walk: Walk, inArray = false): void {
  const isList = inArray || Array.isArray(parent);
  for (const [key, value] of Object.entries(parent) as [string, unknown][]) {
    const name = path === '' ? key : `${path}.${key}`;
    checkKey(key, path);
    if (++walk.values > MAX_PROPERTY_VALUES)
      throw invalid({ field: 'properties', message: `must have at most ${MAX_PROPERTY_VALUES} values` });
    if (typeof value === 'string') {
      const problem = textProblem(value);
      if (problem !== undefined) throw invalid({ field: `properties.${name}`, message: problem });
    }
    if (!isList && value !== null && !hasMembers(value)) walk.observed.push(observe(name, value));
    if (typeof value !== 'object' || value === null) continue;
    if (depth === MAX_PROPERTY_DEPTH)
      throw invalid({
        field: `properties.${name}`,
        message: `is nested more than ${MAX_PROPERTY_DEPTH} levels deep`,
      });
    visit(value, name, depth + 1, walk, isList);
  }
}

/** Whether the members of a value are properties themselves. */
const hasMembers = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;

function checkKey(key: string, path: string): void {
  const field = path === '' ? 'properties' : `properties.${path}`;
  if (key.length > MAX_PROPERTY_KEY_LENGTH)
    throw invalid({ field, message: `must have keys of 1 to ${MAX_PROPERTY_KEY_LENGTH} characters` });
  if (key.trim() === '') throw invalid({ field, message: 'has a blank key' });
  const problem = displayNameProblem(key, MAX_PROPERTY_KEY_LENGTH);
  if (problem !== undefined) throw invalid({ field, message: `has a key that ${problem}` });
}

function observe(name: string, value: unknown): Observation {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // Half of a surrogate pair could not be stored.
  return { name, type: typeOf(value), example: text.slice(0, EXAMPLE_LENGTH).toWellFormed() };
}

const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

/** The type of a value other than null. */
export function typeOf(value: unknown): PropertyType {
  if (typeof value === 'string') return DATE.test(value) && !Number.isNaN(Date.parse(value)) ? 'date' : 'string';
  if (typeof value === 'number') return 'number';
  if (typeof value === 'boolean') return 'boolean';
  return Array.isArray(value) ? 'array' : 'object';
}
