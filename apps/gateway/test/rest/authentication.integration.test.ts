import { generateKey, revokeApiKey } from '@postroom/projects';
import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

const unauthorized = { status: 401, body: { error: { code: 'unauthorized', details: [] } } };

test('a missing key is 401 unauthorized, with how to authenticate', async () => {
  const api = await testApi();
  expect(await api.send('GET', '/v1/groups', { key: null })).toMatchObject(unauthorized);
  for (const path of ['/v1/groups', '/graphql?query={groups{nodes{id}}}', '/graphql/stream?query={__typename}']) {
    const { status, headers } = await fetch(api.url + path);
    expect([path, status, headers.get('www-authenticate')]).toEqual([path, 401, 'Bearer']);
  }
});

test.each([
  ['no scheme', (key: string) => key],
  ['another scheme', (key: string) => `Basic ${key}`],
  ['nothing after the scheme', () => 'Bearer '],
  ['two keys', (key: string) => `Bearer ${key} ${key}`],
  ['another prefix', (key: string) => `Bearer sk${key.slice(2)}`],
  ['a key cut short', (key: string) => `Bearer ${key.slice(0, -1)}`],
  ['a key with one character changed', (key: string) => `Bearer ${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`],
  ['a very long text', () => `Bearer ${'x'.repeat(8000)}`],
])('a malformed key (%s) is 401 unauthorized', async (_name, header) => {
  const api = await testApi();
  const reply = await api.send('GET', '/v1/groups', { key: null, headers: { Authorization: header(api.key) } });
  expect(reply).toMatchObject(unauthorized);
});

test('an unknown key is 401 unauthorized', async () => {
  const api = await testApi();
  expect(await api.send('GET', '/v1/groups', { key: generateKey() })).toMatchObject(unauthorized);
});

test('revocation is immediate: the next request with the key is 401', async () => {
  const api = await testApi();
  const { id, key } = await api.newKey('full');
  expect((await api.send('GET', '/v1/groups', { key })).status).toBe(200);
  await revokeApiKey(id);
  expect(await api.send('GET', '/v1/groups', { key })).toMatchObject(unauthorized);
});

test('the scheme is case-insensitive, as in HTTP', async () => {
  const api = await testApi();
  const reply = await api.send('GET', '/v1/groups', { key: null, headers: { Authorization: `bearer ${api.key}` } });
  expect(reply.status).toBe(200);
});

test('a sending key on a full-scope endpoint is 403 insufficient_scope', async () => {
  const api = await testApi();
  const { key } = await api.newKey('sending');
  for (const [method, path] of [
    ['GET', '/v1/projects'],
    ['GET', '/v1/contacts'],
    ['POST', '/v1/groups'],
    ['GET', `/v1/projects/${api.projectId}/domains`],
    ['POST', '/v1/campaigns/cmp_00000000000000000000000000/send'],
  ] as const) {
    const reply = await api.send(method, path, { key });
    expect([path, reply.status, reply.body.error.code]).toEqual([path, 403, 'insufficient_scope']);
  }
});

test('a sending key may send an email', async () => {
  const api = await testApi();
  const { key } = await api.newKey('sending');
  const reply = await api.send('POST', '/v1/emails', { key, body: {} });
  expect([reply.status, reply.body.error.code]).toEqual([400, 'validation_error']);
});

test('a key of one project acts on it by default', async () => {
  const api = await testApi();
  await api.contact('ada@example.com');
  expect((await api.get('/v1/contacts')).body.data).toHaveLength(1);
});

test('a key of one project may name it too', async () => {
  const api = await testApi();
  expect((await api.get('/v1/contacts', { 'X-Project-Id': api.projectId })).status).toBe(200);
});

test('a key of several projects acts on the one that X-Project-Id names', async () => {
  const [one, two] = await Promise.all([testApi(), testApi()]);
  const { key } = await one.newKey('full', [one.projectId, two.projectId]);
  await two.contact('ada@example.com');
  const list = (projectId: string) => one.send('GET', '/v1/contacts', { key, headers: { 'X-Project-Id': projectId } });
  expect((await list(one.projectId)).body.data).toEqual([]);
  expect((await list(two.projectId)).body.data).toMatchObject([{ email: 'ada@example.com' }]);
});

test('a key of several projects without X-Project-Id is 400 validation_error', async () => {
  const [one, two] = await Promise.all([testApi(), testApi()]);
  for (const projects of ['all' as const, [one.projectId, two.projectId]]) {
    const { key } = await one.newKey('full', projects);
    const reply = await one.send('GET', '/v1/contacts', { key });
    expect(reply).toMatchObject({
      status: 400,
      body: { error: { code: 'validation_error', details: [{ field: 'X-Project-Id' }] } },
    });
  }
});

test('a project the key is not authorized for is 403 forbidden, even if it does not exist', async () => {
  const [one, two] = await Promise.all([testApi(), testApi()]);
  const { key: all } = await one.newKey('full', 'all');
  for (const [key, projectId] of [
    [one.key, two.projectId],
    [one.key, 'prj_00000000000000000000000000'],
    [one.key, 'nonsense'],
    [all, 'prj_00000000000000000000000000'],
  ] as const) {
    const named = await one.send('GET', '/v1/contacts', { key, headers: { 'X-Project-Id': projectId } });
    expect([named.status, named.body.error.code]).toEqual([403, 'forbidden']);
    const inPath = await one.send('GET', `/v1/projects/${projectId}/domains`, { key });
    expect([inPath.status, inPath.body.error.code]).toEqual([403, 'forbidden']);
    for (const { body } of [named, inPath])
      expect(body.error.message).toBe(
        `This API key is not authorized for the project "${projectId}". GET /v1/projects lists those that it covers.`,
      );
  }
});

test('a key of all projects covers those created later', async () => {
  const one = await testApi();
  const { key } = await one.newKey('full', 'all');
  const later = await testApi();
  const reply = await one.send('GET', '/v1/contacts', { key, headers: { 'X-Project-Id': later.projectId } });
  expect(reply.status).toBe(200);
  const ids = (await one.send('GET', '/v1/projects', { key })).body.data.map(({ id }: { id: string }) => id);
  expect(ids).toEqual(expect.arrayContaining([one.projectId, later.projectId]));
});

test('GET /v1/projects lists the projects of the key, without naming one', async () => {
  const [one, two] = await Promise.all([testApi(), testApi()]);
  const { key } = await one.newKey('full', [one.projectId, two.projectId]);
  const ids = (await one.send('GET', '/v1/projects', { key })).body.data.map(({ id }: { id: string }) => id);
  expect(ids.toSorted()).toEqual([one.projectId, two.projectId].toSorted());
  expect((await one.get('/v1/projects')).body.data.map(({ id }: { id: string }) => id)).toEqual([one.projectId]);
});
