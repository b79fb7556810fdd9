import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Context,
  DomainError,
  type ErrorCode,
  newId,
  readBody,
  refusal,
  type Reply,
  type Route,
  type StreamRoute,
} from '@postroom/platform';
import { authenticate } from '@postroom/projects';
import { type GraphQLSchema, validate } from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { nameRoute } from '../metrics.ts';
import { runRequest } from '../run-request.ts';
import { answerText, errorResponse, setErrorHeaders } from './http.ts';
import { claim, runOnce, type StoredAnswer, toStored } from './idempotency.ts';
import { renameFieldsInError } from './names.ts';
import { enforceRateLimit } from './rate-limit.ts';
import { parseBody, queryOf, requestShape, type RestRequest, variablesReader } from './request.ts';
import { type Replier, replier } from './replies.ts';
import { type Match, Router } from './router.ts';
import { type PreparedStream, prepareStream } from './streams.ts';

interface PreparedRoute {
  route: Route;
  /** Executes the document. */
  run: CompiledQuery['query'];
  read: (request: RestRequest) => Record<string, unknown>;
  reply: Replier;
}

type Prepared = (PreparedRoute | PreparedStream) & {
  /** Reads the row in the path; used only when the request is invalid, because `not_found` takes precedence. */
  target?: PreparedRoute | undefined;
};

const MAX_BODY_BYTES = 1024 * 1024;

/** Maximum length of an `X-Request-Id` that is kept; a longer one is replaced. */
export const MAX_REQUEST_ID_LENGTH = 128;

/** Response headers that browsers may read. */
export const EXPOSED_HEADERS =
  'X-Request-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, RateLimit-Policy, Retry-After, Idempotent-Replayed';

/** Serves `/v1`: each route runs its GraphQL document, which is validated against the schema at startup. */
export function createFacade(schema: GraphQLSchema, routes: readonly Route[], streams: readonly StreamRoute[]) {
  const prepared = routes.map((route) => prepare(schema, route));
  const all: Prepared[] = [...prepared, ...streams.map((route) => prepareStream(schema, route))];
  for (const each of all) each.target = targetOf(each, prepared);
  const router = new Router(all);

  return async function answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const requestId = requestIdOf(request);
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('Access-Control-Expose-Headers', EXPOSED_HEADERS);
    const match = router.find(path);
    if (request.method === 'OPTIONS') return answerOptions(response, match);
    let stored: StoredAnswer | undefined;
    try {
      stored = await handle(request, response, { path, requestId, match });
    } catch (error) {
      setErrorHeaders(response, error);
      const { status, body } = errorResponse(error, requestId);
      stored = { status, body: JSON.stringify(body) };
    }
    if (stored === undefined) return;
    answerText(response, stored.status, stored.body);
  };
}

function prepare(schema: GraphQLSchema, route: Route): PreparedRoute {
  const [problem] = validate(schema, route.document);
  if (problem !== undefined) throw new Error(`${route.method} ${route.path}: ${problem.message}`);
  return {
    route,
    run: compileOnFirstUse(schema, route),
    read: variablesReader(requestShape(schema, route)),
    reply: replier(route.reply),
  };
}

/**
 * Compiles a document to a function: executing it would look up types and fields again for each row of a list, which
 * costs more than reading the rows. Compiled on first use, because most routes are rarely called.
 */
function compileOnFirstUse(schema: GraphQLSchema, { method, path, document }: Route): CompiledQuery['query'] {
  let query: CompiledQuery['query'] | undefined;
  return (root, context, variables) => {
    if (query === undefined) {
      const result = compileQuery(schema, document, undefined, { disablingCapturingStackErrors: true });
      if (!isCompiledQuery(result)) throw new Error(`${method} ${path}: ${result.errors?.[0]?.message}`);
      query = result.query;
    }
    return query(root, context, variables);
  };
}

/** The GET route of the row that a path names: the one with the longest common path, which may be the route itself. */
function targetOf({ route }: Prepared, all: readonly PreparedRoute[]): PreparedRoute | undefined {
  if (!route.path.includes('{')) return undefined;
  return all
    .filter((other) => other.route.method === 'GET' && other.route.path.endsWith('}'))
    .filter((other) => route.path === other.route.path || route.path.startsWith(`${other.route.path}/`))
    .sort((a, b) => b.route.path.length - a.route.path.length)[0];
}

/** A request with what its URL and headers say about it. */
interface RoutedRequest {
  path: string;
  requestId: string;
  match: Match<Prepared> | undefined;
}

/** Checks run in the order of the design: 401, 403 insufficient_scope, project, 404, 400, 409. */
async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  { path, requestId, match }: RoutedRequest,
): Promise<StoredAnswer | undefined> {
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET');
  const found = match?.byMethod.get(method);
  if (found !== undefined) nameRoute(request, found.route.path);
  const named = found?.route.project === 'path' ? match?.params.id : header(request, 'x-project-id');
  const caller = await authenticate(request.headers.authorization, named);
  await enforceRateLimit(caller, response);
  if (match === undefined) throw new DomainError('not_found', `Not found: ${path}.`);
  if (found === undefined) throw methodNotAllowed(response, method, match);
  const permission = found.route.needs === 'full' ? 'read' : 'sending';
  if (!caller.may(permission)) throw refusal({ caller }, permission);
  const key = header(request, 'idempotency-key');
  const context: Context = { caller, requestId };
  const { params } = match;
  const whenValid = <T>(read: () => T | Promise<T>) => preferRowProblem(found, context, params, read);
  if ('answer' in found) return whenValid(() => found.answer({ caller, requestId, params, request, response, key }));
  const { route } = found;
  const projectId = route.project === 'none' ? undefined : caller.projectId;
  const run = async (bytes: Buffer) => {
    const variables = await whenValid(() => {
      const query = queryOf(request);
      return found.read({ params, query, body: parseBody(request.headers['content-type'], bytes) });
    });
    return toStored(await executeRoute(found, context, variables));
  };
  if (method === 'GET' || method === 'DELETE') return run(Buffer.alloc(0));
  const body = await whenValid(() => readBody(request, route.maxBodyBytes ?? MAX_BODY_BYTES));
  if (method !== 'POST' || key === undefined || projectId === undefined) return run(body);
  const { answersSecret, commitsResponse } = route;
  const claimed = await whenValid(() =>
    claim(response, projectId, key, { method, path, body, answersSecret, commitsResponse }),
  );
  const { claimedAt } = claimed;
  if (claimedAt !== undefined && commitsResponse === true)
    context.claim = { projectId, key, claimedAt, answerOf: (data) => toStored(found.reply(data)) };
  return runOnce(response, claimed, requestId, () => run(body));
}

const INVALID_REQUEST = new Set<ErrorCode>(['validation_error', 'unsupported_media_type', 'payload_too_large']);

/**
 * Reads a part of a request. If it is invalid, a problem with the row in the path takes precedence: it does not exist, or its
 * state conflicts.
 */
async function preferRowProblem<T>(
  { route, target }: Prepared,
  context: Context,
  params: Record<string, string>,
  read: () => T | Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (target === undefined || !(error instanceof DomainError) || !INVALID_REQUEST.has(error.code)) throw error;
    const { body } = await executeRoute(target, context, target.read({ params, query: NO_QUERY, body: undefined }));
    const problem = ('stateProblem' in route ? route.stateProblem : undefined)?.(
      (body as { data: Record<string, unknown> }).data,
    );
    throw problem === undefined ? error : new DomainError('conflict', problem);
  }
}

const NO_QUERY = new URLSearchParams();

async function executeRoute(
  { route, run, reply }: PreparedRoute,
  context: Context,
  variables: Record<string, unknown>,
): Promise<Reply> {
  const { data, errors } = await runRequest(context.caller, async () => run({}, context, variables), route);
  const [error] = errors ?? [];
  if (error !== undefined) {
    if (error.originalError !== undefined) throw renameFieldsInError(error.originalError);
    // Our reader accepted a variable that GraphQL rejected; the message names it.
    throw new DomainError('validation_error', error.message);
  }
  return reply(data);
}

function methodNotAllowed(response: ServerResponse, method: string, match: Match<Prepared>): DomainError {
  response.setHeader('Allow', allowedMethods(match));
  return new DomainError('method_not_allowed', `${method} is not allowed here; use ${allowedMethods(match)}.`);
}

function allowedMethods({ byMethod }: Match<Prepared>): string {
  const methods = [...byMethod.keys()];
  return [...methods, ...(byMethod.has('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
}

/** Handles CORS preflight requests. Keys are secrets, so a page that uses one is its owner's own tool. */
function answerOptions(response: ServerResponse, match: Match<Prepared> | undefined): void {
  const methods = match === undefined ? 'OPTIONS' : allowedMethods(match);
  response
    .writeHead(204, {
      Allow: methods,
      'Access-Control-Allow-Methods': methods,
      'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key, X-Project-Id, X-Request-Id',
      'Access-Control-Max-Age': '86400',
    })
    .end();
}

/** The caller's request id if it is safe to log, otherwise a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = header(request, 'x-request-id');
  return given !== undefined && given.length <= MAX_REQUEST_ID_LENGTH && /^[\w.:-]+$/.test(given)
    ? given
    : newId('req');
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
