import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from 'better-auth/node';
import { ADDRESS_HEADER, auth } from './auth.ts';

const FORWARDING_HEADERS = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'cf-connecting-ip', 'true-client-ip'];

let handler: ReturnType<typeof toNodeHandler> | undefined;

/**
 * Answers the sign-in library's own endpoints. Throttling counts by address, so whatever the caller says of its address is
 * replaced by the socket's.
 */
export async function handleSignIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
  for (const name of FORWARDING_HEADERS) delete request.headers[name];
  request.headers[ADDRESS_HEADER] = request.socket.remoteAddress ?? 'unknown';
  handler ??= toNodeHandler(auth());
  await handler(request, response);
}
