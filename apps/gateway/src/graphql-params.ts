import { DomainError, parseJsonBody } from '@postroom/platform';
import type { GraphQLParams } from 'graphql-yoga';

/** The operation in the URL of a GET. @throws DomainError `validation_error` unless `variables` and `extensions` are JSON objects. */
export function paramsFromUrl({ searchParams }: URL): GraphQLParams {
  return {
    query: searchParams.get('query') ?? undefined,
    operationName: searchParams.get('operationName') ?? undefined,
    variables: jsonObject('variables', searchParams.get('variables')),
    extensions: jsonObject('extensions', searchParams.get('extensions')),
  };
}

/** The operation in the body of a POST. @throws DomainError `validation_error` unless it is a JSON object with objects as above. */
export function paramsFromBody(body: Buffer): GraphQLParams {
  const params = parseJsonBody(body);
  if (!isObject(params)) throw notAnObject('The body');
  for (const name of ['variables', 'extensions'])
    if (params[name] != null && !isObject(params[name])) throw notAnObject(name);
  return params;
}

function jsonObject(name: string, text: string | null): Record<string, unknown> | undefined {
  if (text === null || text === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notAnObject(name);
  }
  if (value !== null && !isObject(value)) throw notAnObject(name);
  return value ?? undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const notAnObject = (name: string) => new DomainError('validation_error', `${name} must be a JSON object.`);
