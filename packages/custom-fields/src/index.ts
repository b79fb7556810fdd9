import {
  checkDisplayName,
  type FieldProblem,
  invalid,
  lengthOf,
  MAX_NUMBER,
  numberProblem,
  textProblem,
  normalizeText,
} from '@postroom/platform';

/** The types a custom field can have. */
export const CUSTOM_FIELD_TYPES = ['text', 'number', 'boolean', 'date', 'select'] as const;
export type CustomFieldType = (typeof CUSTOM_FIELD_TYPES)[number];

export type CustomFieldValue = string | number | boolean;

/** A contact's values by key; keys without a value are absent. */
export type CustomFieldValues = Record<string, CustomFieldValue>;

/** The value of a field; undefined without one. A key may be a name that every object has, such as `constructor`. */
export const valueOfField = <Value>(values: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(values, key) ? values[key] : undefined;

/** The parts of a field definition that coercion uses. */
export interface FieldSchema {
  key: string;
  type: CustomFieldType;
  options: readonly string[];
}

/** A project's custom-field schema by key. */
export type Schema = ReadonlyMap<string, FieldSchema>;

/** One row of the coercion table. The documentation prints its descriptions; `coerce` runs `convert`. */
export interface CoercionRule {
  /** The JSON type of the input. */
  given: 'string' | 'number' | 'boolean';
  /** Which inputs of that type are accepted, for the documentation. */
  takes: string;
  /** What is stored, for the documentation. */
  stores: string;
  example: { given: CustomFieldValue; stored: CustomFieldValue | null };
  /** The value to store: `null` for no value, `undefined` when this rule does not apply. */
  convert: (value: never, field: FieldSchema) => CustomFieldValue | null | undefined;
}

export const MAX_OPTIONS = 200;
/** Maximum length of a text value, in characters. */
const MAX_TEXT_LENGTH = 5000;
/** Characters of all values of a contact: lists read a hundred contacts at once. */
export const MAX_VALUES_LENGTH = 64_000;
export const VALUES_TOO_LONG = `must have at most ${MAX_VALUES_LENGTH} characters together`;

const YES = new Set(['true', 'yes', 'y', 'on', '1']);
const NO = new Set(['false', 'no', 'n', 'off', '0']);
const NUMERIC = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i;
const DATE = /^\d{4}-\d\d-\d\d$/;
const DATE_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/i;

const blank: CoercionRule = {
  given: 'string',
  takes: 'nothing but whitespace, or nothing',
  stores: 'no value',
  example: { given: '', stored: null },
  convert: (value: string) => (value.trim() === '' ? null : undefined),
};

/** The rules by target type. The first rule that accepts an input applies; inputs that no rule accepts are rejected. */
export const COERCIONS: Record<CustomFieldType, readonly CoercionRule[]> = {
  text: [
    {
      given: 'string',
      takes: `any of at most ${MAX_TEXT_LENGTH} characters, surrounding space aside`,
      stores: 'the string without surrounding space',
      example: { given: ' Analytical Engines ', stored: 'Analytical Engines' },
      convert: textFromText,
    },
    {
      given: 'number',
      takes: `any from -${MAX_NUMBER} to ${MAX_NUMBER}`,
      stores: 'its digits',
      example: { given: 42, stored: '42' },
      convert: (value: number) => String(value),
    },
    {
      given: 'boolean',
      takes: 'any',
      stores: '`true` or `false`',
      example: { given: true, stored: 'true' },
      convert: (value: boolean) => String(value),
    },
  ],
  number: [
    {
      given: 'number',
      takes: `any from -${MAX_NUMBER} to ${MAX_NUMBER}`,
      stores: 'the number',
      example: { given: 4.5, stored: 4.5 },
      convert: (value: number) => value,
    },
    blank,
    {
      given: 'string',
      takes: `a decimal number, with a point and an exponent if need be, from -${MAX_NUMBER} to ${MAX_NUMBER}, surrounding space allowed, that loses no digit as a number`,
      stores: 'the number',
      example: { given: ' 1815 ', stored: 1815 },
      convert: numberFromText,
    },
  ],
  boolean: [
    {
      given: 'boolean',
      takes: 'any',
      stores: 'the boolean',
      example: { given: true, stored: true },
      convert: (value: boolean) => value,
    },
    {
      given: 'number',
      takes: '1 or 0',
      stores: 'true or false',
      example: { given: 1, stored: true },
      convert: (value: number) => (value === 1 ? true : value === 0 ? false : undefined),
    },
    blank,
    {
      given: 'string',
      takes: 'true, yes, y, on, 1 or false, no, n, off, 0, in any case',
      stores: 'true or false',
      example: { given: 'Yes', stored: true },
      convert: booleanFromText,
    },
  ],
  date: [
    blank,
    {
      given: 'string',
      takes: 'a day, YYYY-MM-DD',
      stores: 'the day',
      example: { given: '1815-12-10', stored: '1815-12-10' },
      convert: (value: string) => dayFromText(value.trim()),
    },
    {
      given: 'string',
      takes: 'an ISO 8601 date and time; UTC when it has no offset',
      stores: 'its day in UTC',
      example: { given: '2026-11-21T23:30:00-05:00', stored: '2026-11-22' },
      convert: (value: string) => dayFromDateTime(value.trim()),
    },
  ],
  select: [
    blank,
    {
      given: 'string',
      takes: 'one of the options, surrounding space and case aside',
      stores: 'the option as the schema has it',
      example: { given: ' PRO', stored: 'pro' },
      convert: optionOf,
    },
    {
      given: 'number',
      takes: 'one whose digits are an option',
      stores: 'the option',
      example: { given: 3, stored: '3' },
      convert: (value: number, field) => optionOf(String(value), field),
    },
    {
      given: 'boolean',
      takes: 'true or false when that is an option',
      stores: 'the option',
      example: { given: true, stored: 'true' },
      convert: (value: boolean, field) => optionOf(String(value), field),
    },
  ],
};

/**
 * The value to store for an input: `null` for no value (null, and blanks except in text fields), `undefined` when it
 * can't be coerced.
 */
export function coerce(value: unknown, field: FieldSchema): CustomFieldValue | null | undefined {
  if (value === null) return null;
  if (typeof value === 'string' && textProblem(value) !== undefined) return undefined;
  if (typeof value === 'number' && numberProblem(value) !== undefined) return undefined;
  for (const rule of COERCIONS[field.type]) {
    if (rule.given !== typeof value) continue;
    const stored = rule.convert(value as never, field);
    if (stored !== undefined) return stored;
  }
  return undefined;
}

/** The result of coercing an object of values: values to store, keys to clear, and problems. */
export interface Coerced {
  values: CustomFieldValues;
  cleared: string[];
  problems: FieldProblem[];
}

/** Coerces an object of values against a schema; unknown keys and values that can't be coerced are problems. */
export function coerceValues(given: unknown, schema: Schema): Coerced {
  const coerced: Coerced = { values: {}, cleared: [], problems: [] };
  if (given == null) return coerced;
  if (typeof given !== 'object' || Array.isArray(given)) {
    coerced.problems.push({ field: 'customFields', message: 'must be an object' });
    return coerced;
  }
  for (const [key, value] of Object.entries(given)) {
    const field = schema.get(key);
    const stored = field && coerce(value, field);
    if (stored === null) coerced.cleared.push(key);
    else if (stored !== undefined) coerced.values[key] = stored;
    else
      coerced.problems.push({
        field: `customFields.${key}`,
        message: field ? valueProblem(value, field) : 'is not a custom field of this project',
      });
  }
  if (lengthOf(coerced.values) > MAX_VALUES_LENGTH) {
    coerced.values = {};
    coerced.problems.push({ field: 'customFields', message: VALUES_TOO_LONG });
  }
  return coerced;
}

/** @throws DomainError `validation_error` for options that a field of the type can't have. */
export function checkOptions(type: CustomFieldType, options: readonly string[] | null | undefined): string[] {
  const given = options ?? [];
  if (type !== 'select') {
    if (given.length > 0) throw invalid({ field: 'options', message: 'are only for fields of type select' });
    return [];
  }
  if (given.length === 0 || given.length > MAX_OPTIONS) {
    throw invalid({ field: 'options', message: `must be 1 to ${MAX_OPTIONS} strings for a field of type select` });
  }
  const trimmed = given.map((option, index) => checkDisplayName(option, `options.${index}`));
  const doubled = trimmed.findIndex((option, index) => trimmed.indexOf(option) !== index);
  if (doubled >= 0) throw invalid({ field: `options.${doubled}`, message: 'must not be repeated' });
  return trimmed;
}

/** Why a value was rejected. */
export function valueProblem(value: unknown, field: FieldSchema): string {
  const problem =
    typeof value === 'string' ? textProblem(value) : typeof value === 'number' ? numberProblem(value) : undefined;
  if (problem !== undefined) return problem;
  if (field.type === 'text')
    return typeof value === 'object' ? 'must be a string' : `must be at most ${MAX_TEXT_LENGTH} characters`;
  return field.type === 'number' && typeof value === 'string' && NUMERIC.test(value.trim())
    ? 'has more digits than a number can hold: a field of type text can have it'
    : expectation(field);
}

/** What a field accepts, as the error message for other values. */
export function expectation({ type, options }: FieldSchema): string {
  switch (type) {
    case 'text':
      return `must be a string of at most ${MAX_TEXT_LENGTH} characters`;
    case 'number':
      return 'must be a number';
    case 'boolean':
      return 'must be true or false';
    case 'date':
      return 'must be a date such as 2026-11-21';
    case 'select':
      return `must be one of: ${options.join(', ')}`;
  }
}

/**
 * Rejects texts with more digits than a number can hold, such as phone or account numbers, and numbers that JSON may not have
 * either, because they would be stored changed. Numbers in exports are read as they were.
 */
function numberFromText(text: string): number | undefined {
  const trimmed = text.trim();
  if (!NUMERIC.test(trimmed)) return undefined;
  const value = Number(trimmed);
  return numberProblem(value) === undefined && digitsOf(String(value)) === digitsOf(trimmed) ? value : undefined;
}

/** The digits of a decimal number without zeros around them, and their power of ten: the same for `1.50` and `15e-1`. */
function digitsOf(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace(/^[+-]/, '').split('.');
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  const power = Number(exponent) - fraction.length + digits.length - significant.length;
  return significant === '' ? '0' : `${significant}e${power}`;
}

function textFromText(text: string): string | undefined {
  const value = normalizeText(text);
  return value.length <= MAX_TEXT_LENGTH ? value : undefined;
}

function booleanFromText(text: string): boolean | undefined {
  const word = text.trim().toLowerCase();
  return YES.has(word) ? true : NO.has(word) ? false : undefined;
}

/** The day, if it exists in the calendar. */
export function dayFromText(text: string): string | undefined {
  if (!DATE.test(text)) return undefined;
  const [year, month, day] = [Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8))];
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const last = month === 2 && isLeap ? 29 : (DAYS[month - 1] ?? 0);
  return day >= 1 && day <= last ? text : undefined;
}

/** Days per month in a non-leap year. */
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** The UTC day of a date and time. */
export function dayFromDateTime(text: string): string | undefined {
  if (!DATE_TIME.test(text) || dayFromText(text.slice(0, 10)) === undefined) return undefined;
  const zoned = /(Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`;
  const time = new Date(zoned.replace(' ', 'T').replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
  if (Number.isNaN(time.getTime())) return undefined;
  const day = time.toISOString().slice(0, 10);
  return dayFromText(day);
}

function optionOf(text: string, { options }: FieldSchema): string | undefined {
  const wanted = normalizeText(text);
  return (
    options.find((option) => option === wanted) ??
    options.find((option) => option.toLowerCase() === wanted.toLowerCase())
  );
}
