import { STATUS_BY_CODE } from '@postroom/platform';
import { CONFLICT_REASONS } from '../rest/idempotency.ts';
import type { Components, Schema } from './schemas.ts';

type Response = { description: string; headers?: Record<string, Schema>; content?: Schema };

const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

/** The headers that answers may have, by the name they have under `components`. */
export const HEADERS: Record<string, { description: string; schema: Schema }> = {
  'X-Request-Id': {
    description:
      'The id of this request: yours when you sent one, else a new one. Quote it when you ask about a request.',
    schema: { type: 'string' },
  },
  'RateLimit-Limit': { description: 'How many requests a second the key may make.', schema: { type: 'integer' } },
  'RateLimit-Remaining': { description: 'How many of them are left now.', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until all are there again.', schema: { type: 'integer' } },
  'RateLimit-Policy': {
    description: 'The limit and its window in seconds, such as `100;w=1`.',
    schema: { type: 'string' },
  },
  'Retry-After': { description: 'Seconds to wait before the next request.', schema: { type: 'integer' } },
  'Idempotent-Replayed': {
    description: '`true` when this is the stored answer of an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', const: 'true' },
  },
};

const headers = (...names: string[]) => Object.fromEntries(names.map((name) => [name, ref('headers', name)]));

/** What every answer to a known key carries. */
export const ANSWER_HEADERS = headers(
  'X-Request-Id',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'RateLimit-Policy',
);
export const REPLAY_HEADERS = headers('Idempotent-Replayed');

const codes = Object.keys(STATUS_BY_CODE) as (keyof typeof STATUS_BY_CODE)[];

/** The body of every error (design: Errors), named with its parts; `FieldProblem` and `ApiError` are those parts. */
export function errorSchema(components: Components): Schema {
  const problem = components.named('FieldProblem', {
    type: 'object',
    description: 'What is wrong with one field.',
    required: ['field', 'message'],
    properties: {
      field: { type: 'string', description: 'A path into the request, such as `contacts.3.email`.' },
      message: { type: 'string', description: 'What is wrong with it.' },
      reason: {
        type: 'string',
        enum: [...CONFLICT_REASONS],
        description: 'Which conflict an `idempotency_conflict` is: only one `in_flight` is worth sending again.',
      },
    },
  });
  const error = components.named('ApiError', {
    type: 'object',
    description: 'What went wrong, for programs (`code`, `details[].field`) and for people (`message`).',
    required: ['code', 'message', 'request_id', 'details'],
    properties: {
      code: { type: 'string', enum: codes, description: 'What kind of error it is.' },
      message: { type: 'string', description: 'A sentence for the people who read it.' },
      request_id: { type: 'string', description: 'The value of the `X-Request-Id` header.' },
      details: {
        type: 'array',
        items: problem,
        description: 'What is wrong with which field; empty when it is not about fields.',
      },
    },
  });
  return components.named('ErrorResponse', { type: 'object', required: ['error'], properties: { error } });
}

interface ErrorKind {
  status: number;
  when: string;
  message: string;
  headers: Record<string, Schema>;
}

const ERRORS = {
  BadRequest: {
    status: 400,
    when: 'The request is not one that this takes: a field is missing, unknown or wrong, the JSON can not be read, or a key of several projects came without `X-Project-Id`.',
    message: 'name: is required',
    headers: ANSWER_HEADERS,
  },
  Unauthorized: {
    status: 401,
    when: 'The API key is missing, malformed, unknown or revoked.',
    message: 'This API key is not known, or has been revoked.',
    headers: headers('X-Request-Id'),
  },
  Forbidden: {
    status: 403,
    when: 'A sending key was used where a full-scope key is needed (`insufficient_scope`), or the key is not authorized for the project (`forbidden`).',
    message: 'This API key is not authorized for that project.',
    headers: ANSWER_HEADERS,
  },
  NotFound: {
    status: 404,
    when: 'There is no such thing in this project.',
    message: 'No such contact in this project.',
    headers: ANSWER_HEADERS,
  },
  Conflict: {
    status: 409,
    when: 'What is there already does not allow it (`conflict`), or the `Idempotency-Key` was used for a different request or for one still running (`idempotency_conflict`). The last carries `Retry-After`.',
    message: 'A group named "Beta testers" already exists.',
    headers: { ...ANSWER_HEADERS, ...headers('Retry-After') },
  },
  PayloadTooLarge: {
    status: 413,
    when: 'The body is larger than this takes.',
    message: 'The body may have 1048576 bytes at most.',
    headers: ANSWER_HEADERS,
  },
  UnsupportedMediaType: {
    status: 415,
    when: 'The body is not announced as JSON.',
    message: 'Bodies are JSON: send Content-Type: application/json.',
    headers: ANSWER_HEADERS,
  },
  RateLimited: {
    status: 429,
    when: 'The key, or the callers of the project together, have made more requests than they may in a second, or too much of what is expensive is under way. `Retry-After` says when the same request may succeed.',
    message: 'This key may make 100 requests a second.',
    headers: { ...ANSWER_HEADERS, ...headers('Retry-After') },
  },
  InternalError: {
    status: 500,
    when: 'Something went wrong on our side. The request may be sent again with the same `Idempotency-Key`.',
    message: 'Something went wrong on our side. Quote the request id when you ask about it.',
    headers: headers('X-Request-Id'),
  },
  Timeout: {
    status: 503,
    when: 'The request took longer in the database than a request may, or its body took too long to arrive. Ask for less, or send it again later, with the same `Idempotency-Key`.',
    message: 'The request took too long in the database. Ask for less, or try again later.',
    headers: headers('X-Request-Id'),
  },
} satisfies Record<string, ErrorKind>;

export type ErrorName = keyof typeof ERRORS;

/** The responses of an operation that are errors, by status. */
export function errorResponses(names: readonly ErrorName[]): Record<string, Schema> {
  return Object.fromEntries(names.map((name) => [String(ERRORS[name].status), ref('responses', name)]));
}

/** Every error response in full, for `components`. */
export function errorComponents(): Record<string, Response> {
  return Object.fromEntries(Object.entries(ERRORS).map(([name, kind]) => [name, errorResponse(kind)]));
}

function errorResponse({ status, when, message, headers: carried }: ErrorKind): Response {
  const code = codes.find((each) => STATUS_BY_CODE[each] === status);
  const example = { error: { code, message, request_id: 'req_01kaq2m5xbeqx9m3c0k7d1h2vt', details: [] } };
  return {
    description: when,
    headers: carried,
    content: { 'application/json': { schema: ref('schemas', 'ErrorResponse'), example } },
  };
}
