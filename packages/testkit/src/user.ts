import { createHmac, randomBytes, randomInt } from 'node:crypto';
import { request } from 'node:http';
import { config, db, newId } from '@postroom/platform';
import { auth, type Role } from '@postroom/auth';
import type { Api, Reply } from './api.ts';

export interface SignedIn {
  id: string;
  email: string;
  cookie: string;
  /** Runs a GraphQL operation as this user, in the project of `api` unless headers say otherwise. */
  graphql: (query: string, variables?: Record<string, unknown>, headers?: Record<string, string>) => Promise<Reply>;
}

export const TEST_PASSWORD = 'correct horse battery';

let passwordHash: Promise<string> | undefined;

/**
 * A signed-in user with a role in the project of `api`, whose password is `TEST_PASSWORD`. Hashing a password takes 100 ms of CPU,
 * as it should, so it is hashed once for all users, and the session begins without it.
 */
export async function signedIn(api: Api, role: Role | null = 'owner'): Promise<SignedIn> {
  const { password, internalAdapter, authCookies, secret } = await auth().$context;
  passwordHash ??= password.hash(TEST_PASSWORD);
  const id = newId('usr');
  const email = `${randomBytes(6).toString('hex')}@people.example`;
  const account = { id: newId('usr'), accountId: id, providerId: 'credential', password: await passwordHash };
  await db.user.create({
    data: { id, email, name: 'A Person', emailVerified: true, accounts: { create: account } },
  });
  if (role !== null) await db.member.create({ data: { projectId: api.projectId, userId: id, role } });
  const { token } = await internalAdapter.createSession(id);
  const signature = createHmac('sha256', secret).update(token).digest('base64');
  const cookie = `${authCookies.sessionToken.name}=${encodeURIComponent(`${token}.${signature}`)}`;
  return {
    id,
    email,
    cookie,
    graphql: (query, variables = {}, headers = {}) =>
      api.graphql(query, variables, {
        key: null,
        headers: { cookie, Origin: config.PUBLIC_URL, 'X-Project-Id': api.projectId, ...headers },
      }),
  };
}

/** Signs in with a password and returns the cookie. */
export async function signIn(api: Api, email: string, password: string): Promise<string> {
  const { status, cookies, text } = await postAuth(api, '/sign-in/email', { email, password });
  if (status !== 200) throw new Error(`Signing in was answered with ${status}: ${text}`);
  return cookies.map((cookie) => cookie.split(';', 1)[0]).join('; ');
}

/**
 * Posts to the sign-in library. Sign-in attempts are limited per address and tests make many, so each uses a
 * different loopback address. `more` can replace the headers of a browser, or leave one out as `undefined`.
 */
export async function postAuth(
  api: Pick<Api, 'url'>,
  path: string,
  body: unknown,
  more: Record<string, string | undefined> = {},
): Promise<{ status: number; cookies: string[]; text: string }> {
  const url = `${api.url}/app/auth${path}`;
  const localAddress =
    process.platform === 'linux' ? `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}` : undefined;
  return new Promise((resolve, reject) => {
    const all = { 'Content-Type': 'application/json', Origin: config.PUBLIC_URL, ...more };
    const headers = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    const post = request(
      url,
      { method: 'POST', headers, ...(localAddress === undefined ? {} : { localAddress }) },
      async (response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
        resolve({
          status: response.statusCode ?? 0,
          cookies: response.headers['set-cookie'] ?? [],
          text: Buffer.concat(chunks).toString('utf8'),
        });
      },
    );
    post.once('error', reject);
    post.end(JSON.stringify(body));
  });
}
