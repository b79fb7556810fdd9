import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from 'better-auth/node';
import { clientAddress, config } from '@postroom/platform';
import { ADDRESS_HEADER, auth, AUTH_PATH, hasProvider } from './auth.ts';

const FORWARDING_HEADERS = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'cf-connecting-ip', 'true-client-ip'];

/**
 * Answers the sign-in library's own endpoints. Throttling counts by address, so whatever the client says of its address is
 * replaced by what trusted proxies say, or the socket.
 */
export async function handleSignIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'GET' && request.url === `${AUTH_PATH}/methods`) return answerMethods(response);
  const address = clientAddress(request);
  for (const name of FORWARDING_HEADERS) delete request.headers[name];
  request.headers[ADDRESS_HEADER] = address;
  await toNodeHandler(auth())(request, response);
}

/** How people can sign in beside a password; told to everybody, since the page that asks is for who is not in yet. */
async function answerMethods(response: ServerResponse): Promise<void> {
  const oidc = config.oidc !== undefined && (await hasProvider()) ? config.oidc : undefined;
  response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' });
  response.end(JSON.stringify({ oidc: oidc === undefined ? null : { name: oidc.name } }));
}
