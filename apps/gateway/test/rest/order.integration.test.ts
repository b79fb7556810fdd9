import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { routes, streams } from '../../src/routes.ts';
import { everything } from './fixtures.ts';

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

/** Every request that names a row, without those whose row is the project, which is a 403. */
const onRows = [...routes, ...streams].filter(({ path, project }) => path.includes('{') && project !== 'path');

const withSendingKey = async () => {
  const api = await testApi();
  return { api, sending: (await api.newKey('sending', [api.projectId])).key };
};
let shared: ReturnType<typeof withSendingKey> | undefined;

test.each(onRows.map(({ method, path }) => [`${method} ${path}`, method, path] as const))(
  '%s checks the key, its scope, the row and then what is sent',
  async (_name, method, path) => {
    const { api, sending } = await (shared ??= withSendingKey());
    const absent = `${path.replaceAll(/\{\w+\}/g, NOBODY)}?nme=1`;
    const hasBody = method !== 'GET' && method !== 'DELETE';
    const send = async (options: { key?: string | null }) => {
      const reply = await api.send(method, absent, { ...options, ...(hasBody && { body: '{' }) });
      return `${reply.status} ${reply.body.error.code}`;
    };
    expect(await send({ key: null })).toBe('401 unauthorized');
    expect(await send({ key: sending })).toBe('403 insufficient_scope');
    expect(await send({})).toBe('404 not_found');
  },
);

test.each([
  ['ab-tests/{id}/choose-winner', { campaign_id: NOBODY }, 'campaign_id'],
  ['campaigns/{id}/schedule', { scheduled_at: '2020-01-01T00:00:00Z', version: 1_000 }, 'scheduled_at'],
])('what is sent to %s is checked before versions and states', async (of, body, field) => {
  const { api, fill } = await everything();
  const { status, body: reply } = await api.post(fill(`/v1/${of}`), body);
  expect([status, reply.error.details]).toMatchObject([400, [{ field }]]);
});

const OUTDATED = { version: 1_000 };
const OLD = { updated_at: '2020-01-01T00:00:00.000Z' };

test.each([
  ['contacts', { custom_fields: { unknown: 1 }, ...OLD }, 'custom_fields.unknown'],
  ['templates', { body: '{{#if name}}', ...OLD }, 'body'],
  ['campaigns', { rate_per_second: -1, ...OUTDATED }, 'rate_per_second'],
  ['segments', { filter: { field: 'nothing', op: 'equals', value: 1 }, ...OUTDATED }, 'filter.field'],
  ['forms', { submitted_url: 'javascript:alert(1)', ...OUTDATED }, 'submitted_url'],
  ['journeys', { definition: [], ...OUTDATED }, 'definition'],
  ['ab-tests', { duration_hours: -1, ...OUTDATED }, 'duration_hours'],
])(
  'a body of %s that is not valid is a 400, also if the change is based on an old version',
  async (of, body, field) => {
    const { api, fill } = await everything();
    const path = fill(`/v1/${of}/{id}`);
    const { status, body: reply } = await api.patch(path, body);
    expect([status, reply.error.details.map((detail: { field: string }) => detail.field)]).toEqual([400, [field]]);
    const valid: Record<string, unknown> = { name: 'Other' };
    if (of === 'ab-tests') Object.assign(valid, { name: undefined, duration_hours: 3 });
    expect((await api.patch(path, { ...valid, ...('version' in body ? OUTDATED : OLD) })).status).toBe(409);
  },
);

test('a definition that is not valid is a 400, also for an archived journey', async () => {
  const { api, fill } = await everything();
  const path = fill('/v1/journeys/{id}');
  expect((await api.post(`${path}/archive`)).status).toBe(200);
  expect((await api.patch(path, { definition: [] })).status).toBe(400);
  expect((await api.patch(path, { name: 'Other' })).status).toBe(409);
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
