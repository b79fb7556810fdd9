import type { IncomingMessage } from 'node:http';
import { DomainError, type FieldProblem, mediaTypeOf, parseJsonBody, type Route, snakeCase } from '@postroom/platform';
import {
  getNamedType,
  type GraphQLInputFieldMap,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputObjectType,
  isScalarType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';
import { type FieldReader, fieldReaders, objectReader, readerFor, throwProblems } from './input.ts';

/** Where a route's variables come from; the OpenAPI document is generated from the same. */
export interface RequestShape {
  path: Variable[];
  query: Variable[];
  /** The members of the body; empty if the route has none. */
  body: Variable[];
  /** The variable that holds all body members, or undefined if each member is a variable. */
  bodyVariable: string | undefined;
}

export interface Variable {
  /** The name in the request. */
  name: string;
  /** The name in the document. */
  variable: string;
  type: GraphQLInputType;
  description?: string | null | undefined;
  extensions?: object;
}

export function requestShape(schema: GraphQLSchema, route: Route): RequestShape {
  const shape: RequestShape = { path: [], query: [], body: [], bodyVariable: undefined };
  const inPath = new Set([...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string));
  for (const { variable, type: node } of operation(route).variableDefinitions ?? []) {
    const type = typeFromAST(schema, node) as GraphQLInputType;
    const named = getNamedType(type);
    const name = snakeCase(variable.name.value);
    if (variable.name.value === 'input' && isInputObjectType(named)) {
      shape.bodyVariable = 'input';
      shape.body = Object.values(named.getFields()).map((field) => ({
        name: snakeCase(field.name),
        variable: field.name,
        type: field.type,
        description: field.description,
        extensions: field.extensions,
      }));
      continue;
    }
    const place = inPath.has(name)
      ? shape.path
      : route.method === 'GET' || route.method === 'DELETE'
        ? shape.query
        : shape.body;
    place.push({ name, variable: variable.name.value, type });
  }
  return shape;
}

export function operation(route: Route): OperationDefinitionNode {
  const found = route.document.definitions.find((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  if (found === undefined) throw new Error(`${route.method} ${route.path} has no operation in its document.`);
  return found;
}

export interface RestRequest {
  params: Record<string, string>;
  query: URLSearchParams;
  /** The parsed JSON body, or undefined without one. */
  body: unknown;
}

/** Builds a function that reads a route's variables from requests. */
export function variablesReader(shape: RequestShape): (request: RestRequest) => Record<string, unknown> {
  const body = objectReader(bodyReaders(shape));
  const query = parameterReader(shape.query);
  return (request) => {
    const problems: FieldProblem[] = [];
    const variables = query(request.query, problems);
    for (const { name, variable } of shape.path) variables[variable] = request.params[name];
    const members = body(bodyOf(request), '', problems);
    throwProblems(problems);
    if (shape.bodyVariable === undefined) Object.assign(variables, members);
    else variables[shape.bodyVariable] = members;
    return variables;
  };
}

/** Builds a function that reads query parameters as the members of an input type. */
export function queryObjectReader(fields: GraphQLInputFieldMap): (query: URLSearchParams) => Record<string, unknown> {
  const read = parameterReader(
    Object.values(fields).map(({ name, type }) => ({ name: snakeCase(name), variable: name, type })),
  );
  return (query) => {
    const problems: FieldProblem[] = [];
    const members = read(query, problems);
    throwProblems(problems);
    return members;
  };
}

function parameterReader(variables: readonly Variable[]) {
  const known = new Map(variables.map((each) => [each.name, { ...each, read: queryReader(each.type) }]));
  return (query: URLSearchParams, problems: FieldProblem[]): Record<string, unknown> => {
    const values: Record<string, unknown> = {};
    for (const name of new Set(query.keys())) {
      if (!known.has(name)) problems.push({ field: name, message: 'is not a known query parameter' });
    }
    for (const { name, variable, read } of known.values()) {
      const value = read(query.getAll(name), name, problems);
      if (value !== undefined) values[variable] = value;
    }
    return values;
  };
}

/** A missing body is treated as an empty object; required members are then reported. */
function bodyOf({ body = {} }: RestRequest): object {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw new DomainError('validation_error', 'The body must be a JSON object.');
}

const bodyReaders = (shape: RequestShape): FieldReader[] =>
  fieldReaders(
    Object.fromEntries(
      shape.body.map(({ variable, type, extensions }) => [variable, { name: variable, type, extensions }]),
    ),
  );

/** Maximum length of a string in a query; no value that a filter matches is longer. */
export const MAX_QUERY_TEXT_LENGTH = 1_000;

/** Maximum length of an object in a query, as JSON: all headers together have at most 16 KB in Node. */
export const MAX_QUERY_OBJECT_LENGTH = 8_192;

/** Whether a query holds a value of this type as JSON text. */
export const isObject = (type: GraphQLInputType) =>
  isInputObjectType(type) || (isScalarType(type) && type.name === 'JSON');

/** Query values are text: parses numbers and booleans, and reads lists from repeated or comma-separated values. */
function queryReader(type: GraphQLInputType): (values: string[], name: string, problems: FieldProblem[]) => unknown {
  const read = readerFor(type);
  const bare = isNonNullType(type) ? type.ofType : type;
  const list = isListType(bare);
  const named = getNamedType(type);
  const maxLength =
    named.name === 'String' ? MAX_QUERY_TEXT_LENGTH : isObject(named) ? MAX_QUERY_OBJECT_LENGTH : Infinity;
  const convert = isObject(named) ? objectFromText : (QUERY_CONVERSIONS[named.name] ?? ((text: string) => text));
  return (values, name, problems) => {
    if (!list && values.length > 1) problems.push({ field: name, message: 'must be provided only once' });
    const texts = list ? values.flatMap((value) => value.split(',')) : values.slice(0, 1);
    if (texts.length === 0) return read(undefined, name, problems);
    if (texts.some((text) => text.length > maxLength))
      problems.push({ field: name, message: `must be at most ${maxLength} characters` });
    const before = problems.length;
    const value = read(list ? texts.map(convert) : convert(texts[0] as string), name, problems);
    if (problems.length === before) checkRange(name, value, problems);
    return value;
  };
}

const BOOLEANS = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

const QUERY_CONVERSIONS: Record<string, (text: string) => unknown> = {
  Int: (text) => (/^-?\d+$/.test(text) ? Number(text) : text),
  Float: (text) => (text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text),
  // Some generated clients (PHP's http_build_query) write booleans as 1 and 0.
  Boolean: (text) => BOOLEANS.get(text) ?? text,
};

/** Parses an object in a query as JSON; invalid JSON is left for its reader to reject. */
function objectFromText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function checkRange(name: string, value: unknown, problems: FieldProblem[]): void {
  if (name === 'limit' && typeof value === 'number' && (value < 1 || value > 1000)) {
    problems.push({ field: name, message: 'must be between 1 and 1000' });
  }
}

/** The query of a request. @throws RequestError for values that are not UTF-8, which would otherwise filter by other text. */
export function queryOf({ url = '' }: IncomingMessage): URLSearchParams {
  const text = url.split('?', 2)[1] ?? '';
  const problems = text
    .split('&')
    .filter((pair) => !isUtf8(pair))
    .map((pair) => ({ field: [...new URLSearchParams(pair).keys()][0] as string, message: 'must be valid UTF-8' }));
  throwProblems(problems);
  return new URLSearchParams(text);
}

/** Whether percent-encoded bytes are UTF-8. */
function isUtf8(encoded: string): boolean {
  try {
    for (const [bytes] of encoded.matchAll(/(?:%[\da-f]{2})+/gi)) decodeURIComponent(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Parses a JSON body; an empty body is undefined. */
export function parseBody(contentType: string | undefined, bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  const type = mediaTypeOf(contentType);
  if (type !== 'application/json' && !/^application\/[\w.-]+\+json$/.test(type)) {
    throw new DomainError('unsupported_media_type', 'Bodies are JSON: send Content-Type: application/json.');
  }
  return parseJsonBody(bytes);
}
