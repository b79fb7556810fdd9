import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Caller,
  config,
  DomainError,
  type ErrorCode,
  RateLimited,
  readBody,
  STATUS_BY_CODE,
} from '@postroom/platform';
import { type ExecutionResult, GraphQLError } from 'graphql';
import type { GraphQLParams } from 'graphql-yoga';
import { projectOf } from '../identify.ts';
import { paramsFromBody, paramsFromUrl } from '../graphql-params.ts';
import { enforceRateLimit } from '../rest/rate-limit.ts';
import { type Entered, watchAccess } from './access.ts';
import { EventStream } from './event-stream.ts';
import { isStream, Operation, printResult } from './operation.ts';

const MAX_BODY_BYTES = 1_000_000;
/** A reservation that is not opened expires after this time, in milliseconds. */
const RESERVED_MS = 30_000;
/** Maximum operations per connection, and reservations per caller. */
const MAX_OPERATIONS = 50;
const MAX_RESERVATIONS = 100;

const TOKEN_HEADER = 'x-graphql-event-stream-token';

/** Runs an operation as a plain POST would. */
type Run = (
  params: GraphQLParams,
  request: IncomingMessage,
  response: ServerResponse,
  caller: Caller,
) => Promise<ExecutionResult | AsyncIterable<ExecutionResult>>;

export interface Streams {
  /** Whether a request is for streaming, rather than for the single-response handler. */
  takes: (request: IncomingMessage, path: string) => boolean;
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Ends every stream, so that clients reconnect to another gateway. */
  stop: () => Promise<void>;
}

interface Options {
  run: Run;
  /** Masks an error for callers. */
  toError: (error: unknown) => Error;
  /** How long a reader may read nothing, in milliseconds. */
  stallMs: number;
}

/** A connection that carries several operations, starting with its reservation. */
interface Connection {
  callerId: string;
  stream: EventStream | undefined;
  operations: Map<string, Operation | undefined>;
  forget: NodeJS.Timeout;
}

/**
 * Implements both modes of the graphql-sse protocol. Its own server is not used, because it buffers without limit for
 * slow readers and does not bind tokens to callers (docs/decisions/event-stream.md). A token belongs to the caller who
 * reserved it, and every operation ends when its caller loses access.
 */
export function createStreams({ run, toError, stallMs }: Options): Streams {
  const access = watchAccess();
  const limits = new OperationLimits();
  const connections = new Map<string, Connection>();
  const open = new Set<EventStream>();

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('Access-Control-Allow-Origin', '*');
    try {
      const entered = await access.enter(request.headers);
      await enforceRateLimit(entered.caller, response);
      await dispatch(entered, request, response);
    } catch (error) {
      answerGraphqlError(response, toError(error));
    }
  }

  async function dispatch(entered: Entered, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const token = [request.headers[TOKEN_HEADER]].flat()[0] ?? url.searchParams.get('token') ?? undefined;
    const { method } = request;
    if (method === 'PUT') return reserve(entered, response);
    if (method !== 'GET' && method !== 'POST' && method !== 'DELETE') {
      response.setHeader('Allow', 'GET, POST, PUT, DELETE');
      throw new DomainError('method_not_allowed', 'Streams support GET, POST, PUT and DELETE.');
    }
    const connection = token === undefined ? undefined : connections.get(token);
    if (token === undefined && wantsEvents(request)) return streamOne(entered, request, response, url);
    if (token === undefined || connection?.callerId !== entered.caller.id)
      throw new DomainError('not_found', 'No such stream. Reserve one with PUT, or accept text/event-stream.');
    if (wantsEvents(request)) return openReserved(entered, connection, token, response);
    if (method === 'DELETE') return stopOperation(connection, url, response);
    return addOperation(entered, connection, request, response, url);
  }

  /** Distinct connections mode: each response carries the results of one request. */
  async function streamOne(
    entered: Entered,
    request: IncomingMessage,
    response: ServerResponse,
    url: URL,
  ): Promise<void> {
    const params = await readParams(request, url);
    const release = limits.acquire(entered.caller);
    const result = await run(params, request, response, entered.caller).catch((error: unknown) => failed(error));
    const stream = openStream(response);
    stream.onClose(release);
    const reader = {
      next: (next: ExecutionResult) => stream.send('next', printResult(next)),
      complete: () => stream.send('complete', ''),
    };
    const operation = new Operation(result, reader, toError);
    const unguard = entered.guard((why) => void operation.stop(why));
    stream.onClose(() => void operation.stop());
    await operation.run();
    unguard();
    stream.end();
  }

  /** Single connection mode: creates a token that later requests of the same caller use. */
  function reserve({ caller }: Entered, response: ServerResponse): void {
    const own = [...connections.values()].filter(({ callerId }) => callerId === caller.id);
    if (own.length >= MAX_RESERVATIONS)
      throw new DomainError('rate_limited', `A caller may have at most ${MAX_RESERVATIONS} streams.`);
    const token = randomBytes(24).toString('base64url');
    const forget = setTimeout(() => connections.delete(token), RESERVED_MS).unref();
    connections.set(token, { callerId: caller.id, stream: undefined, operations: new Map(), forget });
    response.writeHead(201, { 'Content-Type': 'text/plain; charset=utf-8' }).end(token);
  }

  function openReserved(entered: Entered, connection: Connection, token: string, response: ServerResponse): void {
    if (connection.stream !== undefined) throw new DomainError('conflict', 'This stream is already open.');
    clearTimeout(connection.forget);
    const stream = openStream(response);
    connection.stream = stream;
    const stopAll = (why?: DomainError) =>
      Promise.all([...connection.operations.values()].map(async (operation) => operation?.stop(why)));
    const unguard = entered.guard((why) => void stopAll(why).then(() => stream.end()));
    stream.onClose(() => {
      unguard();
      connections.delete(token);
      void stopAll();
    });
  }

  async function addOperation(
    entered: Entered,
    connection: Connection,
    request: IncomingMessage,
    response: ServerResponse,
    url: URL,
  ): Promise<void> {
    const params = await readParams(request, url);
    const id = params.extensions?.operationId;
    if (typeof id !== 'string' || id === '' || id.length > 200)
      throw new DomainError('validation_error', 'extensions.operationId is required.');
    const { operations, stream } = connection;
    if (stream === undefined) throw new DomainError('conflict', 'Open the stream before sending operations to it.');
    if (operations.has(id))
      throw new DomainError('conflict', 'The stream already has an operation with this operationId.');
    if (operations.size >= MAX_OPERATIONS)
      throw new DomainError('rate_limited', `A stream carries at most ${MAX_OPERATIONS} operations.`);
    const release = limits.acquire(entered.caller);
    operations.set(id, undefined);
    let operation: Operation;
    try {
      const result = await run(params, request, response, entered.caller);
      const reader = {
        next: (next: ExecutionResult) =>
          stream.send('next', `{"id":${JSON.stringify(id)},"payload":${printResult(next)}}`),
        complete: () => stream.send('complete', JSON.stringify({ id })),
      };
      operation = new Operation(result, reader, toError);
      // Operations that fail before they start are responded to here, like a single request.
      if (!isStream(result) && result.data === undefined) {
        operations.delete(id);
        release();
        return answerGraphqlError(response, ...(result.errors ?? []));
      }
    } catch (error) {
      operations.delete(id);
      release();
      throw error;
    }
    response.writeHead(202).end();
    // It may have been stopped, or its reader may have disconnected, while it was starting.
    if (operations.has(id)) operations.set(id, operation);
    else void operation.stop();
    if (!stream.isOpen) void operation.stop();
    const unguard = entered.guard((why) => void operation.stop(why));
    await operation.run();
    unguard();
    release();
    operations.delete(id);
  }

  function stopOperation({ operations }: Connection, url: URL, response: ServerResponse): void {
    const id = url.searchParams.get('operationId');
    if (id === null) throw new DomainError('validation_error', 'operationId is required.');
    void operations.get(id)?.stop();
    operations.delete(id);
    response.writeHead(200).end();
  }

  function openStream(response: ServerResponse): EventStream {
    const stream = new EventStream(response, { stallMs });
    open.add(stream);
    stream.onClose(() => open.delete(stream));
    return stream;
  }

  const failed = (error: unknown): ExecutionResult => ({ data: null, errors: [toError(error) as GraphQLError] });

  return {
    takes: (request, path) =>
      request.method !== 'OPTIONS' && (path === '/graphql/stream' || (path === '/graphql' && wantsEvents(request))),
    handle,
    stop: async () => {
      for (const stream of open) stream.reconnect();
      for (const { forget } of connections.values()) clearTimeout(forget);
      await access.stop();
    },
  };
}

/**
 * Limits the concurrent operations of each caller and project, because each one is woken by changes and reads from the
 * database.
 */
class OperationLimits {
  readonly #counts = new Map<string, number>();

  /** @throws RateLimited */
  acquire(caller: Caller): () => void {
    const projectId = projectOf(caller);
    const who = caller.kind === 'key' ? 'This key' : 'You';
    this.#check(caller.id, config.STREAMS_PER_CALLER, who);
    if (projectId !== undefined)
      this.#check(projectId, config.STREAMS_PER_PROJECT, 'All callers of this project together');
    const ids = projectId === undefined ? [caller.id] : [caller.id, projectId];
    for (const id of ids) this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      for (const id of ids) {
        const left = (this.#counts.get(id) ?? 1) - 1;
        if (left === 0) this.#counts.delete(id);
        else this.#counts.set(id, left);
      }
    };
  }

  #check(id: string, limit: number, who: string): void {
    if ((this.#counts.get(id) ?? 0) >= limit)
      throw new RateLimited(`${who} may have at most ${limit} open subscriptions. Close one first.`, 10);
  }
}

/** Whether events are preferred: clients that can read both and want JSON list JSON first. */
function wantsEvents(request: IncomingMessage): boolean {
  return (request.headers.accept ?? '').trimStart().startsWith('text/event-stream');
}

/** @throws DomainError `validation_error` or `payload_too_large`. */
async function readParams(request: IncomingMessage, url: URL): Promise<GraphQLParams> {
  return request.method === 'GET' ? paramsFromUrl(url) : paramsFromBody(await readBody(request, MAX_BODY_BYTES));
}

/** Responds with errors only, in the shape of a GraphQL result. */
export function answerGraphqlError(response: ServerResponse, ...errors: readonly Error[]): void {
  const { code, http } = errors[0] instanceof GraphQLError ? errors[0].extensions : {};
  response.setHeaders(new Map(Object.entries(http?.headers ?? {})));
  const status = STATUS_BY_CODE[code as ErrorCode] ?? 400;
  const body = printResult({ errors: errors as GraphQLError[] });
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' }).end(body);
}
