import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from 'better-auth/node';
import { clientAddress, config } from '@postroom/platform';
import { ADDRESS_HEADER, auth, AUTH_PATH, hasProvider } from './auth.ts';

const FORWARDING_HEADERS = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'cf-connecting-ip', 'true-client-ip'];

/**
 * Serves the sign-in library's endpoints. Throttling counts by address, so the client's own claim is replaced by
 * the address from trusted proxies or the socket. `body` is the request's body, already read.
 */
export async function handleSignIn(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
  if (request.method === 'GET' && request.url === `${AUTH_PATH}/methods`) return answerMethods(response);
  const address = clientAddress(request);
  for (const name of FORWARDING_HEADERS) delete request.headers[name];
  request.headers[ADDRESS_HEADER] = address;
  if (isProgram(request.headers)) request.headers.origin = config.PUBLIC_URL;
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  if (!isKnownRoute(pathname.slice(AUTH_PATH.length))) return answerNotFound(response);
  // What has been read of the request is taken from here.
  Object.assign(request, { body: body.toString('utf8') });
  await toNodeHandler(auth())(request, response);
}

/**
 * Whether a request comes from a program: browsers say which site a POST comes from. The library wants an Origin with a
 * cookie, and with `Sec-Fetch-Mode`, which the `fetch` of Node sends.
 */
const isProgram = ({ origin, referer, 'sec-fetch-site': site }: IncomingHttpHeaders) =>
  origin === undefined && referer === undefined && site === undefined;

/** Maximum length of a path parameter, such as the token of a password reset link. */
const MAX_PARAMETER_LENGTH = 128;

/**
 * Whether the sign-in library has such a route. The library keeps a rate-limit row per requested path, even for
 * made-up paths, so unknown ones must not reach it.
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

function answerNotFound(response: ServerResponse): void {
  response.writeHead(404, { 'Content-Type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify({ code: 'NOT_FOUND', message: 'There is nothing at this address.' }));
}

/** The available sign-in methods besides a password. Public, because the sign-in page needs them. */
async function answerMethods(response: ServerResponse): Promise<void> {
  const oidc = config.oidc !== undefined && (await hasProvider()) ? config.oidc : undefined;
  response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' });
  response.end(JSON.stringify({ oidc: oidc === undefined ? null : { name: oidc.name } }));
}
