import { preferences } from '@postroom/campaigns';
import { isTrackingHost } from '@postroom/domains';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CALLBACK_PATH, handleMailboxCallback, handleSesNotification, SES_PATH } from '@postroom/transports';
import { LOGO_PATH, serveLogo } from '@postroom/projects';
import { handleWebVersion } from '@postroom/recipients/web-version';
import { handleUnsubscribe, webVersionToken } from '@postroom/unsubscribe';
import { startTracking } from '@postroom/tracking';
import {
  type Caller,
  config,
  createHttpServer,
  databaseProblem,
  DomainError,
  isDraining,
  isHost,
  isOwnHost,
  logger,
  type Service,
  withLogContext,
} from '@postroom/platform';
import { AUTH_PATH, authenticateUser } from '@postroom/auth';
import { answerForCells } from './cells/cells.ts';
import { createDashboard } from './dashboard.ts';
import { createDownloads, DOWNLOADS_PATH } from './downloads.ts';
import { serveDocs } from './docs/docs.ts';
import { serveForm } from './forms.ts';
import { createGraphql } from './graphql.ts';
import { countRequest } from './metrics.ts';
import { createOpenApi } from './openapi/serve.ts';
import { createFacade, requestIdOf } from './rest/facade.ts';
import { servePreview, PREVIEW_PATH } from './preview.ts';
import { answerError, answerJson } from './rest/http.ts';
import { downloads, routes, streams } from './routes.ts';
import { schema } from './schema.ts';
import { inTrace } from './trace.ts';
import { setSecurityHeaders } from './security-headers.ts';
import { serveSignIn } from './sign-in.ts';

export interface Gateway extends Service {
  /** The base URL, without a trailing slash. */
  url: string;
}

/** Where to listen; port 0 picks a free port. */
export interface GatewayOptions {
  host: string;
  port: number;
  /** How long the reader of a stream may read nothing before it is disconnected, in milliseconds. */
  stallMs?: number;
}

/** Serves the dashboard, `/v1` and its reference, `/graphql`, `/graphql/stream` and health. */
export async function startGateway({ host, port, stallMs = 30_000 }: GatewayOptions): Promise<Gateway> {
  const facade = createFacade(schema, routes, streams);
  const openApi = createOpenApi(schema, routes, streams);
  const graphql = createGraphql(schema, { stallMs });
  const answerDashboard = createDashboard();
  const answerDownload = createDownloads(schema, [...streams, ...downloads]);
  const tracking = startTracking();
  const server = createHttpServer((request, response) => {
    countRequest(request, response);
    setSecurityHeaders(response);
    // A client that keeps its connection would send its next request to a gateway that is about to close.
    if (isDraining()) response.setHeader('Connection', 'close');
    const requestId = requestIdOf(request);
    request.headers['x-request-id'] = requestId;
    response.setHeader('X-Request-Id', requestId);
    withLogContext({ requestId }, () => inTrace(request, response, () => dispatch(request, response))).catch(
      (error: unknown) => answerError(response, error),
    );
  });

  async function dispatch(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    if (!isHost(request.headers.host))
      return answerError(response, new DomainError('validation_error', 'The Host header is not a host.'));
    if (await answerForCells(request, response, path)) return;
    if (path.startsWith('/t/')) return tracking.answer(request, response);
    if (await isTrackingHost(request.headers.host)) return answerNotFound(response);
    if (config.NODE_ENV !== 'production' && !isOwnHost(request.headers.host, config.PUBLIC_URL))
      return answerError(response, new DomainError('forbidden', WRONG_HOST));
    if (path === '/v1/openapi.json') return openApi(request, response);
    if (path === '/v1' || path.startsWith('/v1/')) return facade(request, response, path);
    if (path === '/graphql' || path === '/graphql/stream') return void (await graphql(request, response, path));
    if (path.startsWith(`${AUTH_PATH}/`)) return serveSignIn(request, response);
    if (path.startsWith(DOWNLOADS_PATH)) return answerDownload(request, response, path);
    if (path === PREVIEW_PATH) return servePreview(request, response);
    if (serveDocs(request, response, path)) return;
    if (path.startsWith(LOGO_PATH)) return serveLogo(request, response);
    const viewed = webVersionToken(path);
    if (viewed !== undefined) return handleWebVersion(request, response, viewed);
    if (path.startsWith('/u/')) return handleUnsubscribe(request, response, preferences);
    if (path.startsWith('/f/')) return serveForm(request, response, path);
    if (path.startsWith(SES_PATH)) return handleSesNotification(request, response);
    if (path === CALLBACK_PATH) return handleMailboxCallback(request, response, await returningCaller(request));
    if (path === '/healthz') return answerJson(response, 200, { status: 'ok' });
    if (path === '/readyz') return answerReadiness(response);
    if (answerDashboard(request, response, path)) return;
    if (path === '/')
      return answerJson(response, 200, { name: 'Postroom', rest: '/v1', docs: '/docs', graphql: '/graphql' });
    answerNotFound(response);
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host}:${address.port}`,
    servesClients: true,
    stop: () =>
      new Promise((resolve) => {
        // Clients keep connections alive, so close them as they become idle; subscriptions never end by themselves.
        const closing = setInterval(() => server.closeIdleConnections(), 50);
        setTimeout(() => server.closeAllConnections(), 10_000).unref();
        server.close(() => {
          clearInterval(closing);
          void tracking.stop().finally(resolve);
        });
        void graphql.stopStreams();
      }),
  };
}

/** Development only: in production, the proxy decides which hostnames lead here. */
const WRONG_HOST = 'Use its IP address, localhost or the host of PUBLIC_URL.';

function answerNotFound(response: ServerResponse): void {
  answerError(response, new DomainError('not_found', 'Not found.'));
}

/** The signed-in user on a page that another site links to. */
async function returningCaller({ headers }: IncomingMessage): Promise<Caller | undefined> {
  return (await authenticateUser(headers, undefined, { isLink: true })) ?? undefined;
}

/** Ready means that writes would succeed. Requests do not depend on Temporal. A draining gateway isn't. */
async function answerReadiness(response: ServerResponse): Promise<void> {
  if (isDraining()) return answerJson(response, 503, { status: 'draining' });
  const problem = await databaseProblem().catch((error: unknown) => {
    logger.warn({ err: error }, 'not ready: the database is not responding');
    return 'The database is not responding.';
  });
  answerJson(response, problem === undefined ? 200 : 503, { status: problem ?? 'ready' });
}
