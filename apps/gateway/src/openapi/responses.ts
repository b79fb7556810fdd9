import { CONFLICT_REASONS, STATUS_BY_CODE } from '@postroom/platform';
import { MAX_REQUEST_ID_LENGTH } from '../rest/facade.ts';
import type { Components, Schema } from './schemas.ts';

type Response = { description: string; headers?: Record<string, Schema>; content?: Schema };

const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

/** Response headers, by their name under `components`. */
export const HEADERS: Record<string, { description: string; schema: Schema }> = {
  'X-Request-Id': {
    description: 'The id of this request: yours if you sent one, otherwise a new one. Quote it in support requests.',
    schema: { type: 'string', maxLength: MAX_REQUEST_ID_LENGTH },
  },
  'RateLimit-Limit': {
    description:
      'The number of requests per second that the key may make, or all callers of the project, whichever has less left.',
    schema: { type: 'integer' },
  },
  'RateLimit-Remaining': { description: 'The number of requests left.', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until the full quota is available again.', schema: { type: 'integer' } },
  'RateLimit-Policy': {
    description: 'The limit and its window in seconds, such as `100;w=1`.',
    schema: { type: 'string', pattern: '^\\d+;w=1$' },
  },
  'Retry-After': { description: 'Seconds to wait before the next request.', schema: { type: 'integer' } },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string', const: 'Bearer' } },
  'Idempotent-Replayed': {
    description: '`true` when this is the stored response to an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', const: 'true' },
  },
};

const headers = (...names: string[]) => Object.fromEntries(names.map((name) => [name, ref('headers', name)]));

/** Headers of every response to a valid key. */
export const ANSWER_HEADERS = headers(
  'X-Request-Id',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'RateLimit-Policy',
);
export const REPLAY_HEADERS = headers('Idempotent-Replayed');

const codes = Object.keys(STATUS_BY_CODE) as (keyof typeof STATUS_BY_CODE)[];

/** The body of every error (design: Errors), with its parts `FieldProblem` and `ApiError` as named schemas. */
export function errorSchema(components: Components): Schema {
  const problem = components.named('FieldProblem', {
    type: 'object',
    description: 'A problem with one field.',
    required: ['field', 'message'],
    properties: {
      field: { type: 'string', description: 'A path into the request, such as `contacts.3.email`.' },
      message: { type: 'string', description: 'The problem.' },
      reason: {
        type: 'string',
        enum: [...CONFLICT_REASONS],
        description: 'The reason for an `idempotency_conflict`: only `in_flight` is worth retrying.',
      },
    },
  });
  const error = components.named('ApiError', {
    type: 'object',
    description: 'The error, for programs (`code`, `details[].field`) and for people (`message`).',
    required: ['code', 'message', 'request_id', 'details'],
    properties: {
      code: { type: 'string', enum: codes, description: 'The error code.' },
      message: { type: 'string', description: 'A human-readable message.' },
      request_id: {
        type: 'string',
        maxLength: MAX_REQUEST_ID_LENGTH,
        description: 'The value of the `X-Request-Id` header.',
      },
      details: {
        type: 'array',
        items: problem,
        description: 'The problems by field; empty when the error is not about fields.',
      },
    },
  });
  return components.named('ErrorResponse', {
    type: 'object',
    description: 'The body of every error.',
    required: ['error'],
    properties: { error },
  });
}

interface ErrorKind {
  status: number;
  when: string;
  /** The error of the example: its code, unless it is the first of the status. */
  code?: keyof typeof STATUS_BY_CODE;
  message: string;
  details?: { field: string; message: string }[];
  headers: Record<string, Schema>;
}

const ERRORS = {
  BadRequest: {
    status: 400,
    when: 'The request is invalid: a field is missing, unknown or wrong, the JSON cannot be parsed, or a key that covers several projects was sent without `X-Project-Id`.',
    message: 'name: is required',
    details: [{ field: 'name', message: 'is required' }],
    headers: ANSWER_HEADERS,
  },
  Unauthorized: {
    status: 401,
    when: 'The API key is missing, malformed, unknown or revoked.',
    message: 'This API key is unknown or has been revoked.',
    headers: headers('X-Request-Id', 'WWW-Authenticate'),
  },
  Forbidden: {
    status: 403,
    when: 'A sending key was used where a full-scope key is needed (`insufficient_scope`), or the key is not authorized for the project, or the sender may not send (`forbidden`).',
    code: 'forbidden',
    message:
      'This API key is not authorized for the project "prj_01kaq2m5xaf0x8y4qm9c1b7t3r". GET /v1/projects lists those that it covers.',
    headers: ANSWER_HEADERS,
  },
  NotFound: {
    status: 404,
    when: 'The resource does not exist in this project.',
    message: 'No such contact in this project.',
    headers: ANSWER_HEADERS,
  },
  Conflict: {
    status: 409,
    when: 'The current state does not allow it (`conflict`), or the `Idempotency-Key` was used for a different request or for one still running (`idempotency_conflict`, with `Retry-After`) or interrupted.',
    message: 'A group named "Beta testers" already exists.',
    details: [{ field: 'name', message: 'is already in use' }],
    headers: { ...ANSWER_HEADERS, ...headers('Retry-After') },
  },
  PayloadTooLarge: {
    status: 413,
    when: 'The body is too large.',
    message: 'The body may have at most 1048576 bytes.',
    headers: ANSWER_HEADERS,
  },
  UnsupportedMediaType: {
    status: 415,
    when: 'The Content-Type is not JSON.',
    message: 'Bodies are JSON: send Content-Type: application/json.',
    headers: ANSWER_HEADERS,
  },
  RateLimited: {
    status: 429,
    when: 'The key, or all callers of the project together, exceeded the requests per second, or too many expensive operations are in progress. `Retry-After` says when to retry.',
    message: 'This key may make 100 requests per second.',
    headers: { ...ANSWER_HEADERS, ...headers('Retry-After') },
  },
  InternalError: {
    status: 500,
    when: 'Internal server error. Retry the request with the same `Idempotency-Key`.',
    message: 'Internal server error. Quote the request id in support requests.',
    headers: headers('X-Request-Id'),
  },
  Timeout: {
    status: 503,
    when: 'A database query or the upload of the body took too long: request less, or retry later. Or the database is too busy or unreachable: retry after `Retry-After`. Use the same `Idempotency-Key`.',
    message: 'The request took too long in the database. Ask for less, or try again later.',
    headers: headers('X-Request-Id', 'Retry-After'),
  },
} satisfies Record<string, ErrorKind>;

export type ErrorName = keyof typeof ERRORS;

/** The error responses of an operation, by status. */
export function errorResponses(names: readonly ErrorName[]): Record<string, Schema> {
  return Object.fromEntries(names.map((name) => [String(ERRORS[name].status), ref('responses', name)]));
}

/** All error responses, for `components`. */
export function errorComponents(): Record<string, Response> {
  return Object.fromEntries(Object.entries(ERRORS).map(([name, kind]) => [name, errorResponse(kind)]));
}

function errorResponse({ status, when, message, headers: carried, ...example }: ErrorKind): Response {
  const { code = codes.find((each) => STATUS_BY_CODE[each] === status), details = [] } = example;
  const error = { code, message, request_id: 'req_01kaq2m5xbeqx9m3c0k7d1h2vt', details };
  return {
    description: when,
    headers: carried,
    content: { 'application/json': { schema: ref('schemas', 'ErrorResponse'), example: { error } } },
  };
}
