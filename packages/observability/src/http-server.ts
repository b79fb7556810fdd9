import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';

/** Timeouts in milliseconds for a request's headers, and for a whole request, such as a large file. */
const DEADLINES = { headersMs: 10_000, requestMs: 5 * 60_000 };
/** Keep-alive in milliseconds. Longer than proxies use, so that they never reuse a connection we just closed. */
const KEEP_ALIVE_MS = 65_000;
/** Idle timeout within a request or response, in milliseconds. */
const IDLE_MS = 2 * 60_000;
const CHECK_EVERY_MS = 2_000;
/** How long the rest of a request may follow its response, in milliseconds: closing earlier could lose the response. */
const LINGER_MS = 1_000;
/** How much of it is read, in bytes; the client waits with what follows. */
const LINGER_BYTES = 1024 * 1024;

/**
 * An HTTP server with timeouts, so that slow clients (Slowloris) can't hold connections. A request that is answered before it is
 * complete, such as one with a body that no handler reads, is cut off soon after.
 */
export function createHttpServer(listener: RequestListener, { headersMs, requestMs } = DEADLINES): Server {
  const server = createServer(
    {
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: Math.min(CHECK_EVERY_MS, headersMs / 2),
    },
    (request, response) => {
      closeIfIncomplete(request, response);
      toOriginForm(request);
      return listener(request, response);
    },
  );
  server.timeout = IDLE_MS;
  return server;
}

/**
 * Rewrites a target such as `http://host/path`, which clients send to proxies and servers must accept too. Its host counts, whatever the
 * Host header says (RFC 9112, 3.2.2).
 */
function toOriginForm(request: IncomingMessage): void {
  const [, host, path = ''] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(request.url ?? '') ?? [];
  if (host === undefined) return;
  request.url = path.startsWith('/') ? path : `/${path}`;
  request.headers.host = host;
}

/**
 * Closes the connection after a response to a request that is not complete. It lingers, because data that arrives on a closed
 * connection would make the client lose the response.
 */
function closeIfIncomplete(request: IncomingMessage, response: ServerResponse): void {
  // One without a body is complete a moment after its headers.
  if (!hasBody(request)) return;
  const writeHead = response.writeHead.bind(response) as (...head: unknown[]) => ServerResponse;
  response.writeHead = (...head: unknown[]) => {
    if (!request.complete) response.setHeader('Connection', 'close');
    return writeHead(...head);
  };
  // Before the response has finished, when Node would read the whole rest, or destroy the connection.
  response.once('prefinish', () => {
    if (!request.complete) linger(request);
  });
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

function linger(request: IncomingMessage): void {
  const { socket } = request;
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => void socket.end();
  let length = 0;
  request.once('end', () => {
    clearTimeout(timer);
    destroySoon();
  });
  const count = (chunk: Buffer) => {
    length += chunk.length;
    if (length > LINGER_BYTES) request.pause();
  };
  request.on('data', count).resume();
}
