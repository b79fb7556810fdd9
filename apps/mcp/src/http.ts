import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { DomainError, STATUS_BY_CODE } from '@postroom/errors';
import { parseJsonBody, readBody } from '@postroom/network/request-body';
import { createHttpServer } from '@postroom/observability/http-server';
import { createServer } from './server.ts';

const MAX_BODY_BYTES = 1024 * 1024;
/** Time limits for receiving a request's headers and the whole request, in milliseconds. */
const DEADLINES = { headersMs: 10_000, requestMs: 30_000 };

export interface HttpOptions {
  host: string;
  /** 0 picks a free port. */
  port: number;
  /** The gateway's base URL. */
  baseUrl: string;
}

/**
 * Serves the tools at `/mcp` over streamable HTTP. Every request carries its own API key and no session is kept, so
 * several instances can run side by side.
 */
export async function startHttp({
  host,
  port,
  baseUrl,
}: HttpOptions): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = createHttpServer((request, response) => {
    dispatch(request, response, baseUrl).catch((error: unknown) => {
      if (error instanceof DomainError) return refuse(response, STATUS_BY_CODE[error.code], error.message);
      process.stderr.write(`request failed: ${error instanceof Error ? error.stack : String(error)}\n`);
      if (!response.headersSent) refuse(response, 500, 'Internal error.');
      else response.destroy();
    });
  }, DEADLINES);
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

/** Answers are JSON for programs: no browser may run, frame or store them. */
const HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Strict-Transport-Security': 'max-age=31536000',
  'Cache-Control': 'no-store',
};

async function dispatch(request: IncomingMessage, response: ServerResponse, baseUrl: string): Promise<void> {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  const path = (request.url ?? '').split('?', 1)[0];
  if (path === '/healthz') return void response.writeHead(200).end('ok');
  if (path !== '/mcp') return refuse(response, 404, 'The tools are served at /mcp.');
  // A web page has no reason to call this server, whatever hostname it used (DNS rebinding).
  if (request.headers.origin !== undefined) return refuse(response, 403, 'Requests from browsers are not allowed.');
  if (request.method !== 'POST')
    return refuse(response, 405, 'Sessions are not supported: use POST.', { Allow: 'POST' });
  const apiKey = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (apiKey === undefined) {
    return refuse(response, 401, 'Send an API key: Authorization: Bearer pr_…', { 'WWW-Authenticate': 'Bearer' });
  }
  const body = await readBody(request, MAX_BODY_BYTES);
  await answer(request, response, body, {
    baseUrl,
    apiKey,
    projectId: headerOf(request, 'x-project-id'),
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  credentials: Parameters<typeof createServer>[0],
): Promise<void> {
  const message = parsed(body);
  if (message === undefined) return refuse(response, 400, 'The request body is not valid JSON.', {}, -32700);
  const server = createServer(credentials);
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  response.once('close', () => void server.close());
  // The SDK types optional members as possibly undefined, which `exactOptionalPropertyTypes` rejects.
  await server.connect(transport as Transport);
  await transport.handleRequest(request, response, message);
}

function parsed(body: Buffer): unknown {
  try {
    return parseJsonBody(body);
  } catch (error) {
    if (error instanceof DomainError && error.code === 'validation_error') return undefined;
    throw error;
  }
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
