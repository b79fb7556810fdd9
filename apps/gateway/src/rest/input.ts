import { addressesProblem } from '@postroom/errors';
import {
  DomainError,
  type FieldProblem,
  jsonProblem,
  numberProblem,
  rejectsNull,
  snakeCase,
  textProblem,
  MAX_ID_LENGTH,
} from '@postroom/platform';
import {
  type GraphQLInputType,
  type GraphQLNamedInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';

/** Converts a JSON value to a variable of a GraphQL type, and adds its problems by path. */
export type Reader = (value: unknown, path: string, problems: FieldProblem[]) => unknown;

/** Builds the reader of a type, once per route. */
export function readerFor(type: GraphQLInputType): Reader {
  if (isNonNullType(type)) {
    const inner = readerFor(type.ofType);
    return (value, path, problems) => {
      if (value !== undefined && value !== null) return inner(value, path, problems);
      problems.push({ field: path, message: value === null ? 'must not be null' : 'is required' });
      return undefined;
    };
  }
  const inner = isListType(type) ? listReader(readerFor(type.ofType)) : namedReader(type);
  return (value, path, problems) => (value === undefined || value === null ? value : inner(value, path, problems));
}

function listReader(item: Reader): Reader {
  return (value, path, problems) => {
    if (Array.isArray(value)) return value.map((member, index) => item(member, `${path}.${index}`, problems));
    problems.push({ field: path, message: 'must be an array' });
    return undefined;
  };
}

function namedReader(type: GraphQLNamedInputType): Reader {
  if (isInputObjectType(type)) return objectReader(fieldReaders(type.getFields()));
  if (isEnumType(type)) {
    const names = type.getValues().map((value) => value.name);
    return checkingReader((value) =>
      names.includes(value as string) ? undefined : `must be one of: ${names.join(', ')}`,
    );
  }
  return checkingReader(SCALAR_CHECKS[type.name] ?? checkByParsing((value) => type.parseValue(value)));
}

/** A reader that checks a value and returns it unchanged. */
function checkingReader(check: (value: unknown) => string | FieldProblem | undefined): Reader {
  return (value, path, problems) => {
    const problem = check(value);
    if (typeof problem === 'string') problems.push({ field: path, message: problem });
    else if (problem !== undefined) problems.push({ field: joinPath(path, problem.field), message: problem.message });
    return value;
  };
}

const text = (value: unknown) => (typeof value === 'string' ? textProblem(value) : 'must be a string');
const MAX_INT = 2 ** 31;

const SCALAR_CHECKS: Record<string, (value: unknown) => string | FieldProblem | undefined> = {
  String: text,
  ID: (value) =>
    text(value) ??
    ((value as string).length > MAX_ID_LENGTH ? `must be at most ${MAX_ID_LENGTH} characters` : undefined),
  EmailAddress: text,
  Boolean: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  Float: (value) => (typeof value === 'number' ? numberProblem(value) : 'must be a number'),
  Int: (value) =>
    Number.isInteger(value) && Math.abs(value as number) < MAX_INT ? undefined : 'must be a 32-bit integer',
  JSON: inPlace(jsonProblem),
  AddressList: inPlace(addressesProblem),
};

/** A check whose problem may be anywhere within the value. */
function inPlace(find: (value: unknown) => { path: string; message: string } | undefined) {
  return (value: unknown) => {
    const problem = find(value);
    return problem && { field: problem.path, message: problem.message };
  };
}

function checkByParsing(parse: (value: unknown) => unknown) {
  return (value: unknown) => {
    try {
      parse(value);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
}

/** A member of a request object: its name there, and its GraphQL name. */
export interface FieldReader {
  name: string;
  as: string;
  read: Reader;
}

interface InputField {
  name: string;
  type: GraphQLInputType;
  extensions?: object | undefined;
}

export function fieldReaders(fields: Record<string, InputField>): FieldReader[] {
  return Object.values(fields).map((field) => ({
    name: snakeCase(field.name),
    as: field.name,
    read: rejectsNull(field) ? notNullReader(readerFor(field.type)) : readerFor(field.type),
  }));
}

function notNullReader(read: Reader): Reader {
  return (value, path, problems) => {
    if (value !== null) return read(value, path, problems);
    problems.push({ field: path, message: 'must not be null' });
    return undefined;
  };
}

/** Reads an object; unknown members are errors, so that typos are reported. */
export function objectReader(fields: readonly FieldReader[]): Reader {
  const known = new Set(fields.map((field) => field.name));
  return (value, path, problems) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      problems.push({ field: path, message: 'must be an object' });
      return undefined;
    }
    const given = value as Record<string, unknown>;
    for (const name of Object.keys(given)) {
      if (!known.has(name)) problems.push({ field: joinPath(path, name), message: 'is not a known field' });
    }
    const read: Record<string, unknown> = {};
    for (const field of fields) {
      const member = Object.hasOwn(given, field.name) ? given[field.name] : undefined;
      const result = field.read(member, joinPath(path, field.name), problems);
      if (result !== undefined) read[field.as] = result;
    }
    return read;
  };
}

const joinPath = (path: string, name: string) => (path === '' ? name : name === '' ? path : `${path}.${name}`);

/** The most problems that an error lists. */
const MAX_PROBLEMS = 100;

/** A `validation_error` that names fields as the request does. */
export class RequestError extends DomainError {}

/** @throws RequestError if there are problems. */
export function throwProblems(problems: readonly FieldProblem[]): void {
  const [first] = problems;
  if (first === undefined) return;
  const message = `${first.field}: ${first.message}`.replace(/^: /, '');
  throw new RequestError('validation_error', message, problems.slice(0, MAX_PROBLEMS));
}
