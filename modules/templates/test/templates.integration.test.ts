import { newId } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

const BODY = '<p>Hello {{name|there}}</p>';

test('a template is created as a draft, retrieved with name, body and status, and published', async () => {
  const api = await testApi();
  const created = await api.post('/v1/templates', { name: 'Welcome', subject: 'Hi {{name}}', body: BODY });
  expect(created).toMatchObject({ status: 201, body: { data: { name: 'Welcome', body: BODY, status: 'draft' } } });
  const { id } = created.body.data;
  expect((await api.post(`/v1/templates/${id}/publish`)).body.data.status).toBe('published');
  expect((await api.post(`/v1/templates/${id}/publish`)).status).toBe(200);
  const read = await api.get(`/v1/templates/${id}`);
  expect(read.body.data).toMatchObject({ id, name: 'Welcome', body: BODY, status: 'published' });
});

test('saved templates are listed with name and body, newest first', async () => {
  const api = await testApi();
  for (const name of ['One', 'Two']) await api.post('/v1/templates', { name, body: BODY });
  expect((await api.get('/v1/templates')).body).toMatchObject({
    data: [{ name: 'Two', body: BODY }, { name: 'One' }],
    has_more: false,
  });
});

test('an absent template, or one of another project, is not_found', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const theirs = (await other.post('/v1/templates', { name: 'Theirs', body: BODY })).body.data.id;
  for (const id of [newId('tpl'), theirs, 'nonsense']) {
    const replies = [
      await api.get(`/v1/templates/${id}`),
      await api.patch(`/v1/templates/${id}`, { name: 'x' }),
      await api.post(`/v1/templates/${id}/publish`),
      await api.delete(`/v1/templates/${id}`),
    ];
    for (const reply of replies) expect(reply).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  }
});

test('a search finds names in both forms of an accent', async () => {
  const api = await testApi();
  await api.post('/v1/templates', { name: 'Zoe\u0308', body: BODY });
  for (const search of ['Zo\u00eb', 'Zoe\u0308'])
    expect((await api.get(`/v1/templates?search=${encodeURIComponent(search)}`)).body.data, search).toHaveLength(1);
});

test('a taken name is a conflict, even with concurrent requests', async () => {
  const api = await testApi();
  const create = () => api.post('/v1/templates', { name: 'Same', body: BODY });
  const replies = await Promise.all([create(), create()]);
  expect(replies.map((reply) => reply.status).toSorted()).toEqual([201, 409]);
});

test.each([
  [{ body: BODY }, 'name'],
  [{ name: 'x' }, 'body'],
  [{ name: ' ', body: BODY }, 'name'],
  [{ name: 'x'.repeat(201), body: BODY }, 'name'],
  [{ name: 'x', body: 'Hello {{name' }, 'body'],
  [{ name: 'x', body: BODY, subject: 'Hi {{' }, 'subject'],
  [{ name: 'x', body: '<a href="{{scheme}}:alert(1)">x</a>' }, 'body'],
  [{ name: 'x', body: 7 }, 'body'],
])('an invalid template is rejected on save, and the error names the field: %j', async (body, field) => {
  const api = await testApi();
  const reply = await api.post('/v1/templates', body);
  expect(reply).toMatchObject({ status: 400, body: { error: { code: 'validation_error', details: [{ field }] } } });
});

test('an update changes only the given fields; an empty one is rejected', async () => {
  const api = await testApi();
  const { id } = (await api.post('/v1/templates', { name: 'A', subject: 'S', body: BODY })).body.data;
  expect((await api.patch(`/v1/templates/${id}`, { subject: null })).body.data).toMatchObject({
    name: 'A',
    subject: null,
    body: BODY,
  });
  expect((await api.patch(`/v1/templates/${id}`, {})).status).toBe(400);
  expect(await api.delete(`/v1/templates/${id}`)).toMatchObject({ status: 200, body: { deleted: true } });
  expect((await api.get(`/v1/templates/${id}`)).status).toBe(404);
});
