import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHttpServer } from './http-server.ts';
import { logger } from './logger.ts';
import { METRICS_TYPE } from './metrics-registry.ts';
import type { Readiness } from './health.ts';

export interface AdminOptions {
  host: string;
  /** 0 picks a free port. */
  port: number;
  readiness: () => Promise<Readiness>;
  metrics: () => Promise<string>;
  /** The bearer token that `/metrics` requires, if any. */
  metricsToken?: string | undefined;
}

/**
 * Serves `/livez`, `/readyz` and `/metrics` for the machinery around a program: orchestrators, load balancers, Prometheus.
 * It has its own port, so that the public one need not expose them.
 */
export async function startAdminServer(options: AdminOptions): Promise<{ port: number; stop: () => Promise<void> }> {
  const server = createHttpServer((request, response) => {
    answer(request, response, options).catch((error: unknown) => {
      logger.error({ err: error }, 'admin request failed');
      if (response.headersSent) response.destroy();
      else answerJson(response, 500, { status: 'failed' });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  { url = '/', method, headers }: IncomingMessage,
  response: ServerResponse,
  { readiness, metrics, metricsToken }: AdminOptions,
): Promise<void> {
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
  const [path] = url.split('?', 1);
  if (method !== 'GET' && method !== 'HEAD') return answerJson(response, 405, { status: 'Use GET.' });
  if (path === '/livez') return answerJson(response, 200, { status: 'ok' });
  if (path === '/readyz') {
    const { ready, checks } = await readiness();
    return answerJson(response, ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', checks });
  }
  if (path !== '/metrics') return answerJson(response, 404, { status: 'Use /livez, /readyz or /metrics.' });
  if (metricsToken !== undefined && !showsToken(headers.authorization, metricsToken))
    return void response.writeHead(401, { 'WWW-Authenticate': 'Bearer' }).end();
  const text = await metrics();
  response.setHeader('Content-Type', METRICS_TYPE).end(text);
}

function answerJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}

function showsToken(authorization: string | undefined, token: string): boolean {
  const [, shown = ''] = /^Bearer (.+)$/i.exec(authorization ?? '') ?? [];
  return timingSafeEqual(digest(shown), digest(token));
}

const digest = (text: string) => createHash('sha256').update(text).digest();
