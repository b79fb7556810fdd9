import { GraphQLError, GraphQLScalarType, GraphQLString, Kind, type ValueNode } from 'graphql';
import { answerText } from '@postroom/concurrency';
import { textProblem } from '@postroom/errors';
import { MAX_MAILBOX_LENGTH } from './limits.ts';

const refuse = (message: string): never => {
  throw new GraphQLError(message, { extensions: { code: 'validation_error' } });
};

function parseText(value: unknown): string {
  if (typeof value !== 'string') return refuse('must be a string');
  const problem = textProblem(value);
  return problem === undefined ? value : refuse(problem);
}

/** Counts what is answered. */
function counted<Value>(value: Value): Value {
  answerText(value);
  return value;
}

const serializeString = GraphQLString.serialize;

/**
 * Replaces the parsing of GraphQL's String and ID: no number coercion, no characters that PostgreSQL can't store. Texts of answers are
 * counted.
 */
export const StringScalar = {
  serialize: (value: unknown) => counted(serializeString(value)),
  parseValue: parseText,
  parseLiteral: (node: ValueNode) => (node.kind === Kind.STRING ? parseText(node.value) : refuse('must be a string')),
};

const ISO_DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/;

/** Parses an ISO 8601 date and time with offset; `undefined` if invalid. */
export function parseDateTime(text: string): Date | undefined {
  if (!ISO_DATE_TIME.test(text)) return undefined;
  const date = new Date(text);
  // JavaScript rolls a day that does not exist over into the next month.
  const lastDay = new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0)).getUTCDate();
  return Number.isNaN(date.getTime()) || Number(text.slice(8, 10)) > lastDay ? undefined : date;
}

const MS_PER_DAY = 86_400_000;
const numbers = (count: number, digits: number, after: string) =>
  Array.from({ length: count }, (_, number) => String(number).padStart(digits, '0') + after);
const HOURS = numbers(24, 2, ':');
const MINUTES = numbers(60, 2, ':');
const SECONDS = numbers(60, 2, '.');
const MILLISECONDS = numbers(1000, 3, 'Z');
let lastDay = { day: Number.NaN, text: '' };

/** `toISOString` in a tenth of its time, which a page of 100 rows pays 200 times. @throws RangeError for an invalid date. */
export function isoString(date: Date): string {
  const day = Math.floor(date.getTime() / MS_PER_DAY);
  // Most dates of a response are of one day.
  if (day !== lastDay.day)
    lastDay = { day, text: new Date(day * MS_PER_DAY).toISOString().slice(0, -'00:00:00.000Z'.length) };
  const ms = date.getTime() - day * MS_PER_DAY;
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  return `${lastDay.text}${HOURS[Math.floor(minutes / 60)]}${MINUTES[minutes % 60]}${SECONDS[seconds % 60]}${MILLISECONDS[ms % 1000]}`;
}

const dateTimeProblem = 'must be an ISO 8601 date and time with an offset, such as 2026-11-21T09:30:00Z';
const parseDateTimeValue = (value: unknown): Date =>
  (typeof value === 'string' ? parseDateTime(value) : undefined) ?? refuse(dateTimeProblem);

export const DateTimeScalar = new GraphQLScalarType<Date, string>({
  name: 'DateTime',
  description: 'An instant in ISO 8601, UTC, with milliseconds: `2026-11-21T09:30:00.000Z`.',
  serialize: (value) => isoString(value instanceof Date ? value : new Date(value as string)),
  parseValue: parseDateTimeValue,
  parseLiteral: (node) => parseDateTimeValue(node.kind === Kind.STRING ? node.value : undefined),
});

/** Maximum JSON nesting. Deeper values are attacks on recursive code, not data. */
const MAX_JSON_DEPTH = 100;

/** Larger integers lose digits when parsed. */
export const MAX_NUMBER = Number.MAX_SAFE_INTEGER;

/** Describes why a number would be stored changed; `undefined` if it is safe. */
export function numberProblem(value: number): string | undefined {
  return Math.abs(value) <= MAX_NUMBER
    ? undefined
    : `must be a number between -${MAX_NUMBER} and ${MAX_NUMBER}; send a larger one as text`;
}

/** Finds the first value in a JSON tree that can't be stored unchanged; returns its path and the problem. */
export function jsonProblem(value: unknown, depth = 0): { path: string; message: string } | undefined {
  if (typeof value === 'string' || typeof value === 'number') {
    const message = typeof value === 'string' ? textProblem(value) : numberProblem(value);
    return message === undefined ? undefined : { path: '', message };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === MAX_JSON_DEPTH) return { path: '', message: `is nested more than ${MAX_JSON_DEPTH} levels deep` };
  const isList = Array.isArray(value);
  for (const key in value) {
    const inKey = isList ? undefined : textProblem(key);
    if (inKey !== undefined) return { path: '', message: `has a key that ${inKey}` };
    const problem = jsonProblem((value as Record<string, unknown>)[key], depth + 1);
    if (problem !== undefined) return { ...problem, path: problem.path === '' ? key : `${key}.${problem.path}` };
  }
  return undefined;
}

function parseJson(value: unknown): unknown {
  const problem = jsonProblem(value);
  return problem === undefined ? value : refuse(`${problem.path} ${problem.message}`.trim());
}

function jsonLiteral(node: ValueNode, variables: Record<string, unknown> | null | undefined): unknown {
  switch (node.kind) {
    case Kind.NULL:
      return null;
    case Kind.INT:
    case Kind.FLOAT:
      return Number(node.value);
    case Kind.LIST:
      return node.values.map((item) => jsonLiteral(item, variables));
    case Kind.OBJECT:
      return Object.fromEntries(node.fields.map((field) => [field.name.value, jsonLiteral(field.value, variables)]));
    case Kind.VARIABLE:
      return variables?.[node.name.value];
    default:
      return node.value;
  }
}

export const JsonScalar = new GraphQLScalarType<unknown, unknown>({
  name: 'JSON',
  description: 'Any JSON value.',
  serialize: counted,
  parseValue: parseJson,
  parseLiteral: (node, variables) => parseJson(jsonLiteral(node, variables)),
});

export const EmailAddressScalar = new GraphQLScalarType<string, string>({
  name: 'EmailAddress',
  description: 'An email address. Rules check its form, so that the error names the field.',
  serialize: (value) => value as string,
  parseValue: parseText,
  parseLiteral: StringScalar.parseLiteral,
});

function parseAddresses(value: unknown): string[] {
  if (typeof value === 'string') return [parseText(value)];
  if (!Array.isArray(value)) return refuse('must be an address or a list of addresses');
  return value.map((item: unknown) => (typeof item === 'string' ? parseText(item) : refuse('must hold strings only')));
}

export const AddressListScalar = new GraphQLScalarType<string[], string[]>({
  name: 'AddressList',
  description: 'Addresses such as `Ada Lovelace <ada@example.com>` or `ada@example.com`: one, or a list of them.',
  serialize: (value) => value as string[],
  parseValue: parseAddresses,
  parseLiteral: (node, variables) => parseAddresses(jsonLiteral(node, variables)),
  extensions: {
    // One text is taken too. A union of a text and a list is more than several generators can compile, so the schema has
    // the list alone, and says of the text only to those who know the extension.
    jsonSchema: {
      type: 'array',
      items: { type: 'string', minLength: 1, maxLength: MAX_MAILBOX_LENGTH },
      'x-or-one': true,
    },
  },
});
