import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Caller,
  config,
  type Context,
  DomainError,
  logger,
  mediaTypeOf,
  parseJsonBody,
  readBody,
  RetryLater,
  STATUS_BY_CODE,
  databaseAnswerOf,
} from '@postroom/platform';
import { type ExecutionResult, GraphQLError, type GraphQLSchema } from 'graphql';
import { createYoga, type GraphQLParams, type Plugin } from 'graphql-yoga';
import { identify } from './identify.ts';
import { paramsFromUrl } from './graphql-params.ts';
import { limitPlugins } from './limits.ts';
import { acceptOldTypeNames } from './renamed-types.ts';
import { runRequest } from './run-request.ts';
import { EXPOSED_HEADERS, requestIdOf } from './rest/facade.ts';
import { answerJson, headersOf } from './rest/http.ts';
import { enforceRateLimit } from './rest/rate-limit.ts';
import { GRAPHIQL_POLICY } from './security-headers.ts';
import { answerGraphqlError, createStreams } from './streams/streams.ts';

interface NodeContext {
  req: IncomingMessage;
  res: ServerResponse;
  /** The caller, or why there is none. */
  identified: Identified;
  /** Whether the results are streamed. */
  isStreamed?: boolean;
  /** The parsed body of a POST. */
  params?: GraphQLParams;
}

type Identified = { caller: Caller | null } | { error: unknown };

/** An email with base64 attachments is the largest operation. */
const MAX_BODY_BYTES = 40 * 1024 * 1024;
/** Without a caller, operations are small. */
const MAX_ANONYMOUS_BODY_BYTES = 256 * 1024;

/** Handles `/graphql` and `/graphql/stream`, and ends the streams when the gateway stops. */
export interface GraphqlHandler {
  (request: IncomingMessage, response: ServerResponse, path: string): unknown;
  stopStreams: () => Promise<void>;
}

export function createGraphql(schema: GraphQLSchema, { stallMs }: { stallMs: number }): GraphqlHandler {
  const yoga = createYoga<NodeContext, Context>({
    schema,
    graphqlEndpoint: '/graphql',
    landingPage: false,
    graphiql: config.GRAPHQL_EXPLORER ? { title: 'Postroom', defaultQuery: EXAMPLE_QUERY } : false,
    batching: false,
    multipart: false,
    cors: { origin: '*', credentials: false, exposedHeaders: EXPOSED_HEADERS.split(', ') },
    context: ({ req, identified }) => contextOf(req, identified),
    maskedErrors: { maskError },
    logging: {
      debug: (...args) => logger.debug(args),
      info: (...args) => logger.info(args),
      warn: (...args) => logger.warn(args),
      // Client errors are returned, not logged; yoga would log every masked error.
      error: (error) =>
        isOurs(error) ? logger.debug({ err: error }) : logger.error({ err: error }, 'GraphQL operation failed'),
    },
    maxRequestBodySize: false,
    plugins: [
      passParsedBody(),
      rejectUnstreamedSubscriptions(),
      takeRequestSlots(),
      acceptOldTypeNames(),
      ...limitPlugins(),
    ],
  });
  const streams = createStreams({
    run: async (params, req, res, streamedTo) => {
      const request = new Request(new URL(req.url ?? '/', 'http://localhost'), { method: req.method ?? 'GET' });
      const context: NodeContext = { req, res, identified: { caller: streamedTo }, isStreamed: true };
      return (await yoga.getResultForParams({ params, request }, context as never)) ?? {};
    },
    toError: maskError,
    stallMs,
  });
  const handler = (request: IncomingMessage, response: ServerResponse, path: string) => {
    if (request.method === 'POST') {
      if (!isJson(request)) return answerNotJson(response);
      // Media types are case-insensitive, but not to yoga.
      request.headers['content-type'] = 'application/json';
    }
    if (config.GRAPHQL_EXPLORER && request.method === 'GET')
      response.setHeader('Content-Security-Policy', GRAPHIQL_POLICY);
    return streams.takes(request, path) ? streams.handle(request, response) : answerOnce(request, response);
  };
  /** Reads and parses the body instead of yoga, which would buffer a body of any size and copy it several times. */
  const answerOnce = async (request: IncomingMessage, response: ServerResponse) => {
    const isOperation = request.method === 'POST' || request.method === 'GET';
    const identified: Identified = isOperation ? await identifyOnce(request) : { caller: null };
    const caller = 'caller' in identified ? identified.caller : null;
    let params: GraphQLParams | undefined;
    try {
      if (caller !== null) await enforceRateLimit(caller, response);
      if (request.method === 'POST') {
        const body = await readBody(request, caller === null ? MAX_ANONYMOUS_BODY_BYTES : MAX_BODY_BYTES);
        params = parseJsonBody(body) as GraphQLParams;
      } else if (request.method === 'GET' && !acceptsHtml(request)) {
        params = paramsFromUrl(new URL(request.url ?? '/', 'http://localhost'));
      }
    } catch (error) {
      response.setHeader('Access-Control-Allow-Origin', '*');
      response.setHeader('Access-Control-Expose-Headers', EXPOSED_HEADERS);
      return answerGraphqlError(response, maskError(error));
    }
    return yoga(request, response, { identified, ...(params === undefined ? {} : { params }) });
  };
  return Object.assign(handler, { stopStreams: () => streams.stop() });
}

/** Accepts only JSON: any site can post a form across origins without a preflight (CSRF). */
const isJson = ({ headers }: IncomingMessage) => mediaTypeOf(headers['content-type']) === 'application/json';

/** Whether a GET asks for GraphiQL, which is served if it is enabled. */
const acceptsHtml = ({ headers }: IncomingMessage) => headers.accept?.includes('text/html') === true;

function answerNotJson(response: ServerResponse): void {
  const error = { message: 'Send the operation as application/json.', extensions: { code: 'unsupported_media_type' } };
  answerJson(response, STATUS_BY_CODE.unsupported_media_type, { errors: [error] });
}

/** Hands the parsed body to yoga. */
function passParsedBody(): Plugin<NodeContext> {
  return {
    onRequestParse({ serverContext, setRequestParser }) {
      const { params } = serverContext as unknown as NodeContext;
      if (params !== undefined) setRequestParser(() => params);
    },
  };
}

/**
 * Rejects subscriptions outside the streaming handler, which limits them and ends them when the caller loses access.
 */
function rejectUnstreamedSubscriptions(): Plugin<NodeContext> {
  return {
    onSubscribe({ args, setResultAndStopExecution }) {
      if ((args.contextValue as NodeContext).isStreamed === true) return;
      const error = new GraphQLError('Subscriptions are streamed: send Accept: text/event-stream.', {
        extensions: { code: 'validation_error', http: { status: 406 } },
      });
      setResultAndStopExecution({ errors: [error] });
    },
  };
}

/** Operations share the project's request slots with REST. Streams are limited by their number. */
function takeRequestSlots(): Plugin<NodeContext> {
  return {
    onExecute({ executeFn, setExecuteFn }) {
      setExecuteFn((args) =>
        runRequest((args.contextValue as Context).caller, async () => (await executeFn(args)) as ExecutionResult),
      );
    },
  };
}

const EXAMPLE_QUERY = `# Set your key under Headers: { "Authorization": "Bearer pr_…" }
query { projects { id name } groups(first: 10) { nodes { id name contactCount } } }
`;

/**
 * Identifies the caller once per request: an API key, or a user by their cookie. Anonymous callers may only introspect.
 */
function contextOf(request: IncomingMessage, identified: Identified): Context {
  if ('error' in identified) throw toGraphqlError(identified.error);
  return { caller: identified.caller, requestId: requestIdOf(request) };
}

async function identifyOnce(request: IncomingMessage): Promise<Identified> {
  try {
    return { caller: await identify(request.headers) };
  } catch (error) {
    return { error };
  }
}

function isOurs(error: unknown): boolean {
  const original = error instanceof GraphQLError ? (error.originalError ?? error) : error;
  return original instanceof DomainError || original instanceof GraphQLError;
}

/** Client errors keep their message and code; everything else is logged in full and returned as internal. */
function maskError(error: unknown): Error {
  const graphql = error instanceof GraphQLError ? error : undefined;
  const original = graphql?.originalError ?? error;
  const known = original instanceof DomainError ? original : databaseAnswerOf(original);
  if (known !== undefined) return toGraphqlError(known, graphql);
  if (graphql !== undefined && graphql.originalError === undefined) return withMissingField(graphql);
  if (original instanceof GraphQLError) return graphql === undefined ? original : withInvalidField(graphql, original);
  const options = graphql === undefined ? {} : { nodes: graphql.nodes, path: graphql.path };
  return new GraphQLError('Internal server error.', { ...options, extensions: { code: 'internal_error' } });
}

/** Adds our code and the field to the error of a variable that is missing or null; returns other errors unchanged. */
function withMissingField(error: GraphQLError): GraphQLError {
  const { message, nodes } = error;
  const [, field] = /^Variable "\$(\w+)" of (?:required|non-null) type /.exec(message) ?? [];
  if (field === undefined) return error;
  const extensions = { code: 'validation_error', details: [{ field, message: 'is required' }] };
  return new GraphQLError(message, { nodes, extensions });
}

/**
 * Adds the field to the error of a scalar, which says only what is wrong with the value. The error that wraps it names the field, but repeats
 * the whole value, which may be long or secret.
 */
function withInvalidField(
  { message, nodes }: GraphQLError,
  { message: problem, extensions }: GraphQLError,
): GraphQLError {
  const [, variable] = /^Variable "\$(\w+)" got invalid value /.exec(message) ?? [];
  const prefix = message.slice(0, -`; ${problem}`.length);
  const field = / at "([\w.[\]]+)"$/.exec(prefix)?.[1]?.replaceAll(/\[(\d+)\]/g, '.$1') ?? variable;
  if (field === undefined) return new GraphQLError(problem, { nodes, extensions });
  const details = [{ field, message: problem }];
  return new GraphQLError(`${field}: ${problem}`, {
    nodes,
    extensions: { code: 'validation_error', ...extensions, details },
  });
}

function toGraphqlError(error: unknown, at?: GraphQLError): Error {
  if (!(error instanceof DomainError)) return error as Error;
  const { code, message, details } = error;
  const isRefused = code === 'unauthorized' || code === 'rate_limited';
  const http = { headers: headersOf(error), ...(isRefused && { status: STATUS_BY_CODE[code] }) };
  return new GraphQLError(message, {
    ...(at === undefined ? {} : { nodes: at.nodes, path: at.path }),
    extensions: {
      code,
      ...(details.length === 0 ? {} : { details }),
      ...(error instanceof RetryLater && { retryAfter: error.retryAfterSeconds }),
      http,
    },
  });
}
