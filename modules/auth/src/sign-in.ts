import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from 'better-auth/node';
import { clientAddress, config } from '@postroom/platform';
import { ADDRESS_HEADER, auth, AUTH_PATH, hasProvider } from './auth.ts';

const FORWARDING_HEADERS = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'cf-connecting-ip', 'true-client-ip'];

/**
 * Answers the sign-in library's own endpoints. Throttling counts by address, so whatever the client says of its address is
 * replaced by what trusted proxies say, or the socket. `body` is the body of the request, which has been read.
 */
export async function handleSignIn(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
  if (request.method === 'GET' && request.url === `${AUTH_PATH}/methods`) return answerMethods(response);
  const address = clientAddress(request);
  for (const name of FORWARDING_HEADERS) delete request.headers[name];
  request.headers[ADDRESS_HEADER] = address;
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  if (!isKnownRoute(pathname.slice(AUTH_PATH.length))) return answerNothing(response);
  // What has been read of the request is taken from here.
  Object.assign(request, { body: body.toString('utf8') });
  await toNodeHandler(auth())(request, response);
}

/** The longest value in the path of a route, such as the token of a link that resets a password. */
const MAX_PARAMETER_LENGTH = 128;

/**
 * Whether the sign-in library has such a route. It keeps a row for every path that it is asked for, to count how often that
 * is, and would keep one for paths that anybody makes up as well.
 */
function isKnownRoute(path: string): boolean {
  const parts = path.split('/');
  return routesOf(auth()).some(
    (route) =>
      route.length === parts.length &&
      route.every((part, at) => {
        const given = parts[at] ?? '';
        return part.startsWith(':') ? given !== '' && given.length <= MAX_PARAMETER_LENGTH : part === given;
      }),
  );
}

const routes = new WeakMap<object, string[][]>();

/** The paths of the library's endpoints in parts; those that begin with a colon stand for a value. */
function routesOf(library: ReturnType<typeof auth>): string[][] {
  const known = routes.get(library);
  if (known !== undefined) return known;
  const found = Object.values(library.api).flatMap((endpoint) => {
    const { path } = endpoint as { path?: string };
    return path === undefined ? [] : [path.split('/')];
  });
  routes.set(library, found);
  return found;
}

function answerNothing(response: ServerResponse): void {
  response.writeHead(404, { 'Content-Type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify({ code: 'NOT_FOUND', message: 'There is nothing at this address.' }));
}

/** How people can sign in beside a password; told to everybody, since the page that asks is for who is not in yet. */
async function answerMethods(response: ServerResponse): Promise<void> {
  const oidc = config.oidc !== undefined && (await hasProvider()) ? config.oidc : undefined;
  response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' });
  response.end(JSON.stringify({ oidc: oidc === undefined ? null : { name: oidc.name } }));
}
