import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { createServer } from './server.ts';

const MAX_BODY_BYTES = 1024 * 1024;
/** How long a client may take for the headers and for all of a request, in milliseconds. */
const TIMEOUTS = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 2_000 };

export interface HttpOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** Where the gateway is. */
  baseUrl: string;
}

/**
 * Serves the tools at `/mcp` over streamable HTTP. Each request brings its API key and stands alone, so there are no sessions to
 * keep, and several of these programs may run side by side.
 */
export async function startHttp({
  host,
  port,
  baseUrl,
}: HttpOptions): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = createHttpServer(TIMEOUTS, (request, response) => {
    dispatch(request, response, baseUrl).catch((error: unknown) => {
      process.stderr.write(`A request failed: ${error instanceof Error ? error.stack : String(error)}\n`);
      if (!response.headersSent) refuse(response, 500, 'Something went wrong here.');
      else response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/mcp`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

async function dispatch(request: IncomingMessage, response: ServerResponse, baseUrl: string): Promise<void> {
  const path = (request.url ?? '').split('?', 1)[0];
  if (path === '/healthz') return void response.writeHead(200).end('ok');
  if (path !== '/mcp') return refuse(response, 404, 'The tools are at /mcp.');
  // A page that a browser shows has no business here, whatever name it was reached under.
  if (request.headers.origin !== undefined) return refuse(response, 403, 'Browsers are not served.');
  if (request.method !== 'POST') return refuse(response, 405, 'There are no sessions: use POST.', { Allow: 'POST' });
  const apiKey = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (apiKey === undefined) {
    return refuse(response, 401, 'Send an API key: Authorization: Bearer pr_…', { 'WWW-Authenticate': 'Bearer' });
  }
  const body = await readBody(request);
  if (body === undefined) return refuse(response, 413, 'A request may have 1 MB.', { Connection: 'close' });
  await answer(request, response, body, { baseUrl, apiKey, projectId: headerOf(request, 'x-project-id') });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
  credentials: Parameters<typeof createServer>[0],
): Promise<void> {
  const message = parsed(body);
  if (message === undefined) return refuse(response, 400, 'The body is not JSON.', {}, -32700);
  const server = createServer(credentials);
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  response.once('close', () => void server.close());
  // Its optional members are typed as possibly undefined, which our strictness tells apart.
  await server.connect(transport as Transport);
  await transport.handleRequest(request, response, message);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** The body; `undefined` when it is too large. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function refuse(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Record<string, string> = {},
  code = -32000,
): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }));
}
