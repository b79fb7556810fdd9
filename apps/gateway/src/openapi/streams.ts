import { MAX_ID_LENGTH, snakeCase, type StreamRoute } from '@postroom/platform';
import { getNullableType, GraphQLNonNull, type GraphQLSchema, isInputObjectType, isNonNullType } from 'graphql';
import { isObject } from '../rest/request.ts';
import { optionsOf } from '../rest/streams.ts';
import { fieldSchema, inputSchema } from './inputs.ts';
import { objectParameter, type Operation, queryText } from './operations.ts';
import { ANSWER_HEADERS, type ErrorName, errorResponses, REPLAY_HEADERS } from './responses.ts';
import { type Components, type Schema, withDescription } from './schemas.ts';

/** Describes a streaming route: its options come from the schema, its bodies from the route. */
export function describeStream(schema: GraphQLSchema, route: StreamRoute, components: Components): Operation {
  const { method, tag, summary, description, operationId, takes, answers } = route;
  const headers = { ...ANSWER_HEADERS, ...(method === 'POST' ? REPLAY_HEADERS : {}) };
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    parameters: [
      ...[...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => pathParameter(name)),
      ...queryParameters(schema, route, components),
      { $ref: '#/components/parameters/ProjectId' },
      ...(method === 'POST' ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ],
    ...(takes && {
      requestBody: { description: `${summary}.`, required: true, content: contentOf(takes, schema, route, components) },
    }),
    responses: {
      [String(answers.status)]: {
        description: answers.description,
        headers,
        content: contentOf(answers.content, schema, route, components),
      },
      ...errorResponses(errorsOf(route)),
    },
  };
}

const pathParameter = (name: string): Schema => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string', maxLength: MAX_ID_LENGTH },
  description: 'The id of the row.',
});

function queryParameters(schema: GraphQLSchema, route: StreamRoute, components: Components): Schema[] {
  return Object.values(optionsOf(schema, route)).map((field) => {
    const type = getNullableType(field.type);
    const { description, ...own } = fieldSchema({ ...field, type: new GraphQLNonNull(type) }, components);
    const place = { name: snakeCase(field.name), in: 'query', required: isNonNullType(field.type) };
    if (isObject(type)) return objectParameter(place, own, description as string | undefined);
    return withDescription({ ...place, schema: queryText(own) }, description as string | undefined);
  });
}

function contentOf(
  content: Record<string, Schema>,
  schema: GraphQLSchema,
  { options = '' }: StreamRoute,
  components: Components,
): Schema {
  const type = schema.getType(options);
  const optionsSchema = () => (isInputObjectType(type) ? inputSchema(new GraphQLNonNull(type), components) : undefined);
  const filled = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(filled);
    if ('$ref' in value && value.$ref === 'options') return optionsSchema();
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, filled(member)]));
  };
  return Object.fromEntries(Object.entries(content).map(([mediaType, each]) => [mediaType, { schema: filled(each) }]));
}

function errorsOf({ method, path, errors = [] }: StreamRoute): ErrorName[] {
  return [
    'BadRequest',
    'Unauthorized',
    'Forbidden',
    ...(path.includes('{') || errors.includes('not_found') ? (['NotFound'] as const) : []),
    ...(method === 'POST' ? (['Conflict', 'PayloadTooLarge', 'UnsupportedMediaType'] as const) : []),
    'RateLimited',
    'InternalError',
    'Timeout',
  ];
}
