import type { IncomingMessage, ServerResponse } from 'node:http';
import { inSpan } from '@postroom/platform';
import { routeOf } from './metrics.ts';

/** Handles a request in a span that ends with the response; it continues the caller's trace. */
export function inTrace(
  request: IncomingMessage,
  response: ServerResponse,
  handle: () => Promise<void>,
): Promise<void> {
  const { traceparent } = request.headers;
  const parent = typeof traceparent === 'string' ? traceparent : null;
  return inSpan(`${request.method}`, { kind: 'server', parent }, async (span) => {
    await handle();
    span?.updateName(`${request.method} ${routeOf(request)}`);
    span?.setAttributes({ 'http.route': routeOf(request), 'http.response.status_code': response.statusCode });
  });
}
