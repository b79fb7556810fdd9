import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

const NOBODY = 'grp_00000000000000000000000000';

/** A request with every kind of error; each test fixes one more, in the order of the checks. */
async function wrongInEveryWay() {
  const [api, other] = await Promise.all([testApi(), testApi()]);
  const sending = await api.newKey('sending', [api.projectId, other.projectId]);
  const both = await api.newKey('full', [api.projectId, other.projectId]);
  const ada = await api.contact('ada@example.com');
  const create = (name: string) => api.post('/v1/groups', { name, contact_ids: [ada.id] });
  const [group] = await Promise.all([create('Beta'), create('Taken')]);
  const patch = async (key: string | null, path: string, body: unknown, projectId?: string) => {
    const headers: Record<string, string> = projectId === undefined ? {} : { 'X-Project-Id': projectId };
    const reply = await api.send('PATCH', path, { key, headers, body });
    return `${reply.status} ${reply.body.error?.code ?? ''}`.trim();
  };
  return { api, other, sending: sending.key, both: both.key, path: `/v1/groups/${group.body.data.id}`, patch };
}

test('checks come in the order 401, 403 insufficient_scope, project, 404, 400, 409', async () => {
  const { api, other, sending, both, path, patch } = await wrongInEveryWay();
  const bad = { nme: 1 };
  expect(await patch(null, `/v1/groups/${NOBODY}`, bad)).toBe('401 unauthorized');
  expect(await patch(sending, `/v1/groups/${NOBODY}`, bad)).toBe('403 insufficient_scope');
  expect(await patch(both, `/v1/groups/${NOBODY}`, bad)).toBe('400 validation_error');
  expect(await patch(api.key, `/v1/groups/${NOBODY}`, bad, other.projectId)).toBe('403 forbidden');
  expect(await patch(both, `/v1/groups/${NOBODY}`, bad, api.projectId)).toBe('404 not_found');
  expect(await patch(both, path, bad, other.projectId)).toBe('404 not_found');
  expect(await patch(both, path, bad, api.projectId)).toBe('400 validation_error');
  expect(await patch(both, path, { name: 'Taken' }, api.projectId)).toBe('409 conflict');
  expect(await patch(both, path, { name: 'Free' }, api.projectId)).toBe('200');
});

test('an absent row is 404 even when the body cannot be parsed', async () => {
  const api = await testApi();
  expect((await api.patch(`/v1/groups/${NOBODY}`, '{')).status).toBe(404);
  expect((await api.patch('/v1/groups/nonsense', { name: 7 })).status).toBe(404);
  expect((await api.post(`/v1/groups/${NOBODY}/contacts`, '[')).status).toBe(404);
});

test('an id of another type is 404', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  for (const path of [`/v1/groups/${ada.id}`, '/v1/contacts/42', `/v1/contacts/${encodeURIComponent("' OR 1=1 --")}`]) {
    expect([path, (await api.get(path)).status]).toEqual([path, 404]);
  }
});

test('the key is checked before the path', async () => {
  const api = await testApi();
  expect((await api.send('GET', '/v1/nothing', { key: null })).status).toBe(401);
  expect((await api.get('/v1/nothing')).body.error.code).toBe('not_found');
  expect((await api.get('/v1')).body.error.code).toBe('not_found');
  expect((await api.get('/v1/groups/')).body.error.code).toBe('not_found');
  expect((await api.get('/v1/contacts/%00')).body.error.code).toBe('not_found');
  expect((await api.get('/v1/contacts/%E0%A4%A')).body.error.code).toBe('not_found');
});
