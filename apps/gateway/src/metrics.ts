import type { IncomingMessage, ServerResponse } from 'node:http';
import { Histogram } from '@postroom/platform/metrics';

const requestSeconds = new Histogram({
  name: 'postroom_http_request_seconds',
  help: 'Request duration by route and status.',
  labelNames: ['method', 'route', 'status'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
});

/** The matched route, used as a label so that ids in paths do not become time series. */
const matched = new WeakMap<IncomingMessage, string>();

export function nameRoute(request: IncomingMessage, route: string): void {
  matched.set(request, route);
}

/** The matched route; `other` for everything outside `/v1`. */
export const routeOf = (request: IncomingMessage): string => matched.get(request) ?? 'other';

export function countRequest(request: IncomingMessage, response: ServerResponse): void {
  const started = process.hrtime.bigint();
  response.once('finish', () => {
    const seconds = Number(process.hrtime.bigint() - started) / 1e9;
    requestSeconds.labels(request.method ?? '', routeOf(request), String(response.statusCode)).observe(seconds);
  });
}
