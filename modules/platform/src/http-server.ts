import { createServer, type RequestListener, type Server } from 'node:http';

/** How long a client may take, in milliseconds: for the headers of a request, and for all of it, such as a large file. */
const DEADLINES = { headersMs: 10_000, requestMs: 5 * 60_000 };
/** How long a connection is kept open without a request: longer than proxies keep theirs, or they would use a closed one. */
const KEEP_ALIVE_MS = 65_000;
/** How long a connection may be silent in the middle of a request or a response. */
const IDLE_MS = 2 * 60_000;
const CHECK_EVERY_MS = 2_000;

/** An HTTP server that closes connections whose clients take too long: nobody can hold one by sending a byte now and then. */
export function createHttpServer(listener: RequestListener, { headersMs, requestMs } = DEADLINES): Server {
  const server = createServer(
    {
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: Math.min(CHECK_EVERY_MS, headersMs / 2),
    },
    listener,
  );
  server.timeout = IDLE_MS;
  return server;
}
