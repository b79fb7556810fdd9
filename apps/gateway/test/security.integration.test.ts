import { request } from 'node:http';
import { config } from '@postroom/platform';
import { signedIn, testApi } from '@postroom/testkit';
import { afterEach, expect, test } from 'vitest';

const { PUBLIC_URL } = config;
afterEach(() => void Object.assign(config, { PUBLIC_URL }));

const PATHS = `
  / /sign-in /docs /docs/page.js /docs/events.json /v1/openapi.json /v1/contacts /v1/nothing /graphql /graphql/stream
  /healthz /readyz /nothing /u/test /u/nobody /t/o/nobody /app/auth/methods /app/preview
  /providers/ses/nobody /providers/mailbox/callback /v1/contacts/export
`
  .trim()
  .split(/\s+/);

test.each(PATHS)('%s is sent with nosniff, a policy and no referrer; over https with HSTS', async (path) => {
  const { url } = await testApi();
  const plain = await fetch(url + path, { redirect: 'manual' });
  expect(plain.headers.get('x-content-type-options')).toBe('nosniff');
  expect(plain.headers.get('content-security-policy')).toMatch(/default-src 'none'/);
  expect(plain.headers.get('content-security-policy')).toMatch(/frame-ancestors/);
  expect(plain.headers.get('referrer-policy')).toMatch(/^(no-referrer|same-origin)$/);
  expect(plain.headers.has('strict-transport-security')).toBe(false);
  config.PUBLIC_URL = 'https://mail.example.com';
  const secure = await fetch(url + path, { redirect: 'manual' });
  expect(secure.headers.get('strict-transport-security')).toMatch(/^max-age=\d{8}/);
});

/** The status under a hostname; `fetch` can't set one. */
const statusUnder = (host: string, url: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    const asked = request(url, { headers: { host } }, (response) => resolve(response.resume().statusCode));
    asked.once('error', reject).end();
  });

test('in development, an unknown hostname gets no content, whatever it resolves to', async () => {
  const { url } = await testApi();
  const { port } = new URL(url);
  for (const path of PATHS.filter((one) => !one.startsWith('/t/')))
    expect([path, await statusUnder(`evil.test:${port}`, url + path)]).toEqual([path, 403]);
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, new URL(PUBLIC_URL).host])
    expect([host, await statusUnder(host, `${url}/healthz`)]).toEqual([host, 200]);
});

test('a Host header that is not a host is 400 everywhere, and no stack trace', async () => {
  const { url } = await testApi();
  for (const path of PATHS)
    for (const host of ['a@b', 'a/b', '127.0.0.1:99999'])
      expect([path, host, await statusUnder(host, url + path)]).toEqual([path, host, 400]);
});

const QUERY = '{ me { id } }';
const form = new FormData();
form.set('operations', JSON.stringify({ query: QUERY }));
form.set('map', '{}');

test.each([
  ['a form', { body: new URLSearchParams({ query: QUERY }) }],
  ['a multipart form', { body: form }],
  ['plain text', { body: JSON.stringify({ query: QUERY }) }],
  ['a bare document', { body: QUERY, headers: { 'Content-Type': 'application/graphql' } }],
  ['a type that only begins like JSON', { body: '{}', headers: { 'Content-Type': 'application/json-seq' } }],
])('GraphQL rejects %s at /graphql and /graphql/stream: 415', async (_, init) => {
  const api = await testApi();
  const { cookie } = await signedIn(api, 'admin');
  for (const path of ['/graphql', '/graphql/stream']) {
    const headers = { ...('headers' in init ? init.headers : {}), cookie };
    const response = await fetch(api.url + path, { method: 'POST', ...init, headers });
    expect(response.status).toBe(415);
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'unsupported_media_type' } }] });
  }
});

test('GraphQL takes JSON however its media type is capitalized', async () => {
  const api = await testApi();
  for (const type of ['Application/JSON', 'APPLICATION/JSON; CHARSET=UTF-8']) {
    const headers = { Authorization: `Bearer ${api.key}`, 'Content-Type': type };
    const reply = await fetch(`${api.url}/graphql`, { method: 'POST', headers, body: '{"query":"{ __typename }"}' });
    expect([reply.status, await reply.json()]).toEqual([200, { data: { __typename: 'Query' } }]);
  }
});
