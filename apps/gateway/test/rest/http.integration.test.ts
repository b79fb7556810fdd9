import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

test('an error is {error: {code, message, request_id, details}} and nothing else, as JSON', async () => {
  const api = await testApi();
  for (const reply of await Promise.all([
    api.send('GET', '/v1/groups', { key: null }),
    api.get('/v1/groups/nonsense'),
    api.get('/v1/nothing'),
    api.post('/v1/groups', {}),
    api.send('PUT', '/v1/groups'),
  ])) {
    expect(Object.keys(reply.body)).toEqual(['error']);
    const { code, message, request_id: requestId, details, ...more } = reply.body.error;
    expect(more).toEqual({});
    expect([typeof code, typeof message, Array.isArray(details)]).toEqual(['string', 'string', true]);
    expect(requestId).toBe(reply.headers.get('x-request-id'));
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
  }
});

test('every response has X-Request-Id: a new one, or yours if it is safe', async () => {
  const api = await testApi();
  const idFor = async (given?: string) => {
    const { headers } = await api.get('/v1/groups', given === undefined ? {} : { 'X-Request-Id': given });
    return headers.get('x-request-id');
  };
  expect(await idFor()).toMatch(/^req_[0-7][0-9a-z]{25}$/);
  expect(await idFor('order-4711:retry.2')).toBe('order-4711:retry.2');
  for (const harmful of ['a b', 'x'.repeat(129), '<script>', 'é']) expect(await idFor(harmful)).toMatch(/^req_/);
});

test('a response outside of the routes has X-Request-Id too, and its error has the same request_id', async () => {
  const { url } = await testApi();
  for (const path of ['/healthz', '/docs', '/v1/openapi.json', '/t/nonsense', '/u/nonsense']) {
    expect([path, (await fetch(url + path)).headers.get('x-request-id')]).toEqual([
      path,
      expect.stringMatching(/^req_/),
    ]);
  }
  const openApi = await fetch(`${url}/v1/openapi.json`, { method: 'POST', headers: { 'X-Request-Id': 'mine' } });
  expect([openApi.status, (await openApi.json()).error.request_id]).toEqual([405, 'mine']);
  const elsewhere = await fetch(`${url}/v2/contacts`, { headers: { 'X-Request-Id': 'mine' } });
  expect([elsewhere.status, (await elsewhere.json()).error.request_id]).toEqual([404, 'mine']);
  for (const [host, status] of [
    ['evil.example', 403],
    ['a@b', 400],
  ] as const)
    expect(await underHost(host, `${url}/v1/contacts`)).toMatchObject({
      status,
      id: 'mine',
      error: { request_id: 'mine' },
    });
});

/** The response under a hostname; `fetch` can't set one. */
async function underHost(host: string, url: string) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { headers: { host, 'X-Request-Id': 'mine' } }, resolve)
      .on('error', reject)
      .end();
  });
  const { error } = JSON.parse(await text(response));
  return { status: response.statusCode, id: response.headers['x-request-id'], error };
}

test('an unsupported method is 405 with Allow', async () => {
  const api = await testApi();
  for (const [method, path, allow] of [
    ['PUT', '/v1/groups', 'GET, POST, HEAD, OPTIONS'],
    ['DELETE', '/v1/groups', 'GET, POST, HEAD, OPTIONS'],
    ['POST', '/v1/projects', 'GET, HEAD, OPTIONS'],
    ['PUT', '/v1/groups/grp_00000000000000000000000000', 'GET, PATCH, DELETE, HEAD, OPTIONS'],
    ['GET', '/v1/groups/grp_00000000000000000000000000/contacts', 'POST, OPTIONS'],
    ['HEAD', '/v1/groups/grp_00000000000000000000000000/contacts', 'POST, OPTIONS'],
    ['DELETE', `/v1/projects/${api.projectId}/domains/example.com`, 'GET, HEAD, OPTIONS'],
  ] as const) {
    const { status, headers } = await api.send(method, path);
    const order = (methods: string | null) => methods?.split(', ').toSorted().join(', ');
    expect([method, path, status, order(headers.get('allow'))]).toEqual([method, path, 405, order(allow)]);
  }
});

test('HEAD responds like GET, without the body', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  for (const path of ['/v1/contacts', `/v1/contacts/${ada.id}`, '/v1/contacts/ctc_00000000000000000000000000']) {
    const [get, head] = await Promise.all([api.get(path), api.send('HEAD', path)]);
    expect(head.status).toBe(get.status);
    expect(head.body).toBeUndefined();
    const length = Number(head.headers.get('content-length'));
    expect(length).toBeGreaterThan(0);
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
  }
});

test('OPTIONS tells browsers what they may send, without a key', async () => {
  const api = await testApi();
  const headers = { Origin: 'https://example.com', 'Access-Control-Request-Method': 'POST' };
  const reply = await api.send('OPTIONS', '/v1/groups', { key: null, headers });
  expect(reply.status).toBe(204);
  expect(reply.headers.get('access-control-allow-origin')).toBe('*');
  expect(reply.headers.get('access-control-allow-methods')).toBe('GET, POST, HEAD, OPTIONS');
  for (const name of ['Authorization', 'Content-Type', 'Idempotency-Key', 'X-Project-Id']) {
    expect(reply.headers.get('access-control-allow-headers')).toContain(name);
  }
  expect(reply.headers.get('access-control-allow-credentials')).toBeNull();
  expect((await api.get('/v1/groups')).headers.get('access-control-allow-origin')).toBe('*');
});

test('browsers may read the headers that programs need', async () => {
  const api = await testApi();
  const { headers } = await api.get('/v1/groups', { Origin: 'https://example.com' });
  for (const name of ['X-Request-Id', 'RateLimit-Remaining', 'Retry-After', 'Idempotent-Replayed']) {
    expect(headers.get('access-control-expose-headers')).toContain(name);
  }
});

test('deletes return {deleted: true}, and the row is gone', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  expect(await api.delete(`/v1/contacts/${ada.id}`)).toMatchObject({ status: 200, body: { deleted: true } });
  expect((await api.get(`/v1/contacts/${ada.id}`)).status).toBe(404);
  expect((await api.delete(`/v1/contacts/${ada.id}`)).status).toBe(404);
});
