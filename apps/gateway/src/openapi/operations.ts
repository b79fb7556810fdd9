import { DEFAULT_PAGE_SIZE, MAX_ID_LENGTH, MAX_PAGE_SIZE, MAX_TOTAL, type Route } from '@postroom/platform';
import {
  type FieldNode,
  getNamedType,
  getNullableType,
  GraphQLNonNull,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLSchema,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  typeFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import {
  isObject,
  MAX_QUERY_OBJECT_LENGTH,
  MAX_QUERY_TEXT_LENGTH,
  operation,
  requestShape,
  type RequestShape,
  type Variable,
} from '../rest/request.ts';
import { bodyOf, inputSchema, type VariableArguments } from './inputs.ts';
import { declaredSchema, MAX_CURSOR_LENGTH, MAX_TEXT } from './scalars.ts';
import { replySchemas } from './replies.ts';
import { ANSWER_HEADERS, type ErrorName, errorResponses, REPLAY_HEADERS } from './responses.ts';
import { type Components, type Schema, withDescription } from './schemas.ts';

export interface Operation extends Schema {
  operationId: string;
  parameters: Schema[];
  requestBody?: { description?: string; required: boolean; content: Schema };
  responses: Record<string, Schema>;
}

/** Describes a route entirely from its document and its reply. */
export function describeRoute(schema: GraphQLSchema, route: Route, components: Components): Operation {
  const shape = requestShape(schema, route);
  const used = argumentsOf(schema, operation(route));
  const [field] = fieldPath(schema, operation(route)) as [Field];
  const body = requestBody(schema, route, shape, used, components);
  return {
    operationId: operationId(schema, route),
    tags: [route.tag],
    summary: route.summary,
    ...(route.deprecated === undefined ? {} : { deprecated: true }),
    ...withDescription({}, withNotes(field.description ?? '', route)),
    parameters: [
      ...pathParameters(route, shape, used, components),
      ...shape.query.map((variable) => queryParameter(variable, used, components)),
      ...headerParameters(route),
    ],
    ...(body === undefined ? {} : { requestBody: body }),
    responses: { ...replies(schema, route, components), ...errorResponses(errorsOf(route)) },
  };
}

const SENDING = 'Keys with scope `sending` may call this too.';
const withNotes = (description: string, { needs, deprecated }: Route) =>
  [description, ...(needs === 'sending' ? [SENDING] : []), ...(deprecated === undefined ? [] : [deprecated])]
    .join('\n\n')
    .trim();

/**
 * The operation id: the document's operation name, else derived: `createGroup` from a mutation, `getGroup` or
 * `listGroups` from a query.
 */
function operationId(schema: GraphQLSchema, route: Route): string {
  const of = operation(route);
  if (of.name !== undefined) return of.name.value;
  const path = fieldPath(schema, of);
  if (of.operation === 'mutation') return (path[0] as Field).name;
  const type = getNullableType((path.at(-1) as Field).type);
  const name = path.map((field) => field.name.charAt(0).toUpperCase() + field.name.slice(1)).join('');
  return `${isListType(type) || isConnection(type) ? 'list' : 'get'}${name}`;
}

type Field = GraphQLField<unknown, unknown>;

/** The main field of a document with its parents; a connection may be the only selection of a row. */
function fieldPath(schema: GraphQLSchema, of: OperationDefinitionNode): Field[] {
  const path: Field[] = [];
  let type: unknown = schema.getRootType(of.operation);
  let { selections } = of.selectionSet;
  while (isObjectType(type) && (path.length === 0 || (selections.length === 1 && !isConnection(type)))) {
    const node = selections[0];
    const field = node?.kind === Kind.FIELD ? type.getFields()[node.name.value] : undefined;
    if (field === undefined) throw new Error('The first selection of a document must be the main field of the route.');
    path.push(field);
    type = getNamedType(field.type);
    selections = (node as FieldNode).selectionSet?.selections ?? [];
  }
  return path;
}

const isConnection = (type: unknown) => isObjectType(type) && type.getFields().pageInfo !== undefined;

/** The argument that each variable of a document is used for, which provides its description. */
function argumentsOf(schema: GraphQLSchema, of: OperationDefinitionNode): VariableArguments {
  const used = new Map<string, GraphQLArgument | GraphQLInputField>();
  const typeInfo = new TypeInfo(schema);
  const note = (name: string, given: GraphQLArgument | GraphQLInputField | null | undefined) => {
    if (given != null && !used.has(name)) used.set(name, given);
  };
  visit(
    of,
    visitWithTypeInfo(typeInfo, {
      Argument: ({ value }) => {
        for (const each of value.kind === Kind.LIST ? value.values : [value]) {
          if (each.kind === Kind.VARIABLE) note(each.name.value, typeInfo.getArgument());
        }
      },
      ObjectField: (node) => {
        const input = typeInfo.getParentInputType();
        if (node.value.kind !== Kind.VARIABLE || input == null || !('getFields' in input)) return;
        note(node.value.name.value, input.getFields()[node.name.value] as GraphQLInputField);
      },
    }),
  );
  return used;
}

/** Parameters of every list (design: Lists). */
const PAGE_PARAMETERS: Record<string, { schema: Schema; description: string }> = {
  limit: {
    schema: { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE },
    description: 'Maximum number of results.',
  },
  cursor: {
    schema: { type: 'string', minLength: 1, maxLength: MAX_CURSOR_LENGTH, pattern: '^[A-Za-z0-9_-]+$' },
    description: 'The `next_cursor` of the previous page.',
  },
  total: {
    schema: { type: 'boolean', default: false },
    description: `Whether to return \`total\`, the number of all results, counted up to ${MAX_TOTAL}.`,
  },
};

function pathParameters(route: Route, shape: RequestShape, used: VariableArguments, components: Components): Schema[] {
  const byName = new Map(shape.path.map((variable) => [variable.name, variable]));
  return [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const variable = byName.get(name);
    const schema =
      variable === undefined
        ? { type: 'string', maxLength: MAX_ID_LENGTH }
        : variableSchema(variable, used, components);
    const description = variable === undefined ? 'Project id.' : used.get(variable.variable)?.description;
    return withDescription({ name, in: 'path', required: true, schema }, description);
  });
}

function queryParameter(variable: Variable, used: VariableArguments, components: Components): Schema {
  const paging = PAGE_PARAMETERS[variable.name];
  const description = paging?.description ?? used.get(variable.variable)?.description;
  const place = { name: variable.name, in: 'query', required: isNonNullType(variable.type) };
  if (isObject(getNullableType(variable.type)))
    return objectParameter(place, variableSchema(variable, used, components), description);
  return withDescription(
    { ...place, schema: paging?.schema ?? queryText(variableSchema(variable, used, components)) },
    description,
  );
}

/** An object in a query is JSON text, because many generators ignore `content` of a parameter. */
export function objectParameter(place: object, contentSchema: Schema, description: string | null | undefined): Schema {
  const schema = {
    type: 'string',
    maxLength: MAX_QUERY_OBJECT_LENGTH,
    contentMediaType: 'application/json',
    contentSchema,
  };
  return withDescription({ ...place, schema }, `${description ?? ''} An object, written as JSON.`.trim());
}

/** Strings in queries have their own limit; a filter may be longer than the addresses it matches. */
export const queryText = (schema: Schema): Schema =>
  schema.type === 'string' && (schema.maxLength === MAX_TEXT || schema.format === 'email')
    ? { ...schema, maxLength: MAX_QUERY_TEXT_LENGTH }
    : schema;

/** Values in paths and queries are never null: they are omitted. */
function variableSchema({ variable, type }: Variable, used: VariableArguments, components: Components): Schema {
  const given = used.get(variable);
  return inputSchema(nonNull(type), components, given && declaredSchema(given));
}

const nonNull = (type: GraphQLInputType) => new GraphQLNonNull(getNullableType(type));

function headerParameters(route: Route): Schema[] {
  const takesProject = (route.project ?? 'header') === 'header';
  return [
    ...(takesProject ? [{ $ref: '#/components/parameters/ProjectId' }] : []),
    ...(route.method === 'POST' ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
  ];
}

function requestBody(
  schema: GraphQLSchema,
  route: Route,
  shape: RequestShape,
  used: VariableArguments,
  components: Components,
) {
  if (shape.body.length === 0) return undefined;
  const body = bodySchema(schema, route, shape, used, components);
  const { minProperties, description } = components.resolved(body);
  // An update changes something.
  const needed = route.method === 'PATCH' || minProperties !== undefined;
  const content = { schema: body, ...(route.example ? { example: route.example } : {}) };
  return {
    ...withDescription({}, (description as string | undefined) ?? `${route.summary}.`),
    required: needed || shape.body.some((member) => isNonNullType(member.type)),
    content: { 'application/json': content },
  };
}

function bodySchema(
  schema: GraphQLSchema,
  route: Route,
  shape: RequestShape,
  used: VariableArguments,
  components: Components,
): Schema {
  if (shape.bodyVariable === undefined) return bodyOf(shape.body, used, components);
  const definition = operation(route).variableDefinitions?.find(
    ({ variable }) => variable.name.value === shape.bodyVariable,
  );
  const type = definition && (typeFromAST(schema, definition.type) as GraphQLInputType);
  if (type === undefined) throw new Error(`${route.method} ${route.path} has no variable ${shape.bodyVariable}.`);
  return inputSchema(nonNull(type), components);
}

const REPLIES: Record<number, string> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted; processed in the background.',
};

function replies(schema: GraphQLSchema, route: Route, components: Components): Record<string, Schema> {
  const headers = { ...ANSWER_HEADERS, ...(route.method === 'POST' ? REPLAY_HEADERS : {}) };
  const found = [...replySchemas(schema, route, components)].sort(([a], [b]) => a - b);
  return Object.fromEntries(
    found.map(([status, body]) => [
      String(status),
      {
        description: REPLIES[status] ?? `Status ${status}.`,
        headers,
        content: { 'application/json': { schema: body } },
      },
    ]),
  );
}

/** The errors a route may return, derived from its input. */
function errorsOf({ method, path, errors = [] }: Route): ErrorName[] {
  const hasBody = method !== 'GET' && method !== 'DELETE';
  return [
    'BadRequest',
    'Unauthorized',
    'Forbidden',
    ...(path.includes('{') || errors.includes('not_found') ? (['NotFound'] as const) : []),
    ...(hasBody || errors.includes('conflict') ? (['Conflict'] as const) : []),
    ...(hasBody ? (['PayloadTooLarge', 'UnsupportedMediaType'] as const) : []),
    'RateLimited',
    'InternalError',
    'Timeout',
  ];
}
