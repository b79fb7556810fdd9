import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';

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
      // Before it has finished, when Node itself would read the rest, however long.
      response.once('prefinish', () => cutOff(request));
      return listener(request, response);
    },
  );
  server.timeout = IDLE_MS;
  return server;
}

function cutOff(request: IncomingMessage): void {
  if (request.complete) return;
  const timer = setTimeout(() => request.socket.destroy(), LINGER_MS).unref();
  let length = 0;
  const count = (chunk: Buffer) => {
    length += chunk.length;
    if (length > LINGER_BYTES) request.pause();
  };
  request.once('end', () => clearTimeout(timer));
  request.on('data', count).resume();
}
