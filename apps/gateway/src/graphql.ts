import type { IncomingMessage, ServerResponse } from 'node:http';
import { config, type Context, DomainError, logger, STATUS_BY_CODE } from '@postroom/platform';
import { authenticatePerson } from '@postroom/people';
import { authenticate } from '@postroom/projects';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import { createYoga } from 'graphql-yoga';
import { limitPlugins } from './limits.ts';
import { requestIdOf } from './rest/facade.ts';
import { useStreams } from './streams.ts';

interface NodeContext {
  req: IncomingMessage;
  res: ServerResponse;
}

/** The handler of `/graphql` and `/graphql/stream`, and what ends the streams when the gateway stops. */
export interface GraphqlHandler {
  (request: IncomingMessage, response: ServerResponse): unknown;
  closeStreams: () => void;
}

export function createGraphql(schema: GraphQLSchema): GraphqlHandler {
  const yoga = createYoga<NodeContext, Context>({
    schema,
    graphqlEndpoint: '/graphql',
    landingPage: false,
    graphiql: config.GRAPHQL_EXPLORER ? { title: 'Postroom', defaultQuery: EXAMPLE_QUERY } : false,
    batching: false,
    cors: { origin: '*', credentials: false },
    context: ({ req }) => contextOf(req),
    maskedErrors: { maskError },
    logging: {
      debug: (...args) => logger.debug(args),
      info: (...args) => logger.info(args),
      warn: (...args) => logger.warn(args),
      // What a caller did wrong is answered, not logged; yoga would log each masked error.
      error: (error) =>
        isOurs(error) ? logger.debug({ err: error }) : logger.error({ err: error }, 'a GraphQL operation failed'),
    },
    plugins: [useStreams(maskError), ...limitPlugins()],
  });
  const open = new Set<ServerResponse>();
  const handler = (request: IncomingMessage, response: ServerResponse) => {
    // A caller who quotes it helps us to find the request in the log.
    const requestId = requestIdOf(request);
    request.headers['x-request-id'] = requestId;
    response.setHeader('X-Request-Id', requestId);
    open.add(response);
    response.once('close', () => open.delete(response));
    return yoga(request, response);
  };
  return Object.assign(handler, {
    closeStreams: () => {
      for (const response of open)
        if (String(response.getHeader('content-type')).includes('event-stream')) response.end();
    },
  });
}

const EXAMPLE_QUERY = `# Set your key under Headers: { "Authorization": "Bearer pr_…" }
query { projects { id name } groups(first: 10) { nodes { id name contactCount } } }
`;

/** Who calls is found out once a request: a key, or a person by their cookie. Without either only introspection is open. */
async function contextOf(request: IncomingMessage): Promise<Context> {
  const requestId = requestIdOf(request);
  const { authorization, 'x-project-id': project } = request.headers;
  const named = Array.isArray(project) ? project[0] : project;
  try {
    const caller =
      authorization === undefined
        ? await authenticatePerson(request.headers, named)
        : await authenticate(authorization, named);
    return { caller, requestId };
  } catch (error) {
    throw toGraphqlError(error);
  }
}

function isOurs(error: unknown): boolean {
  const original = error instanceof GraphQLError ? (error.originalError ?? error) : error;
  return original instanceof DomainError || original instanceof GraphQLError;
}

/** What the caller did wrong keeps its words and the spec's code; all else is logged whole and shown as internal. */
function maskError(error: unknown): Error {
  const graphql = error instanceof GraphQLError ? error : undefined;
  const original = graphql?.originalError ?? error;
  if (original instanceof DomainError) return toGraphqlError(original, graphql);
  if (graphql !== undefined && graphql.originalError === undefined) return graphql;
  if (original instanceof GraphQLError) return original;
  const options = graphql === undefined ? {} : { nodes: graphql.nodes, path: graphql.path };
  return new GraphQLError('Something went wrong on our side.', { ...options, extensions: { code: 'internal_error' } });
}

function toGraphqlError(error: unknown, at?: GraphQLError): Error {
  if (!(error instanceof DomainError)) return error as Error;
  const { code, message, details } = error;
  const http = code === 'unauthorized' || code === 'rate_limited' ? { http: { status: STATUS_BY_CODE[code] } } : {};
  return new GraphQLError(message, {
    ...(at === undefined ? {} : { nodes: at.nodes, path: at.path }),
    extensions: { code, ...(details.length === 0 ? {} : { details }), ...http },
  });
}
