import { GraphQLError, GraphQLScalarType, GraphQLString, Kind, type ValueNode } from 'graphql';
import { answerText } from '@postroom/concurrency';
import {
  addressesProblem,
  DATE_TIME_PROBLEM,
  isoString,
  jsonProblem,
  parseDateTime,
  textProblem,
} from '@postroom/errors';
import { MAX_MAILBOX_LENGTH } from './limits.ts';

const refuse = (message: string): never => {
  throw new GraphQLError(message, { extensions: { code: 'validation_error' } });
};

function parseText(value: unknown): string {
  if (typeof value !== 'string') return refuse('must be a string');
  const problem = textProblem(value);
  return problem === undefined ? value : refuse(problem);
}

const serializeString = GraphQLString.serialize;

/**
 * Replaces the parsing of GraphQL's String and ID: no number coercion, no characters that PostgreSQL can't store. Texts of answers are
 * counted.
 */
export const StringScalar = {
  serialize: (value: unknown) => answerText(serializeString(value)),
  parseValue: parseText,
  parseLiteral: (node: ValueNode) => (node.kind === Kind.STRING ? parseText(node.value) : refuse('must be a string')),
};

const parseDateTimeValue = (value: unknown): Date => {
  if (typeof value !== 'string') return refuse(DATE_TIME_PROBLEM);
  const hint = / \d\d:?\d\d$/.test(value) ? '; in a URL, write + as %2B' : '';
  return parseDateTime(value) ?? refuse(`${DATE_TIME_PROBLEM}${hint}`);
};

export const DateTimeScalar = new GraphQLScalarType<Date, string>({
  name: 'DateTime',
  description: 'An instant in ISO 8601, UTC, with milliseconds: `2026-11-21T09:30:00.000Z`.',
  serialize: (value) => isoString(value instanceof Date ? value : new Date(value as string)),
  parseValue: parseDateTimeValue,
  parseLiteral: (node) => parseDateTimeValue(node.kind === Kind.STRING ? node.value : undefined),
});

const parseJson = (value: unknown, problem = jsonProblem(value)): unknown =>
  problem === undefined ? value : refuse(`${problem.path} ${problem.message}`.trim());

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
  serialize: answerText,
  parseValue: (value) => parseJson(value),
  parseLiteral: (node, variables) => parseJson(jsonLiteral(node, variables)),
});

export const EmailAddressScalar = new GraphQLScalarType<string, string>({
  name: 'EmailAddress',
  description: 'An email address. Rules check its form, so that the error names the field.',
  serialize: (value) => value as string,
  parseValue: parseText,
  parseLiteral: StringScalar.parseLiteral,
});

const parseAddresses = (value: unknown) => [parseJson(value, addressesProblem(value))].flat() as string[];

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
