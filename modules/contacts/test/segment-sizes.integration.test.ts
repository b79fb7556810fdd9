import { pool } from '@postroom/platform';
import { signedIn, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { deleteOldSizes, recordSizes } from '../src/segment-sizes.ts';

const today = () => new Date().toISOString().slice(0, 10);

test('the size of a segment is recorded once a day, and old sizes are deleted', async () => {
  const api = await testApi();
  await api.contact('ada@example.com');
  const filter = { field: 'email', op: 'endsWith', value: '@example.com' };
  const { id } = (await api.post('/v1/segments', { name: 'Examples', filter })).body.data;
  const sizes = async (query = '') => (await api.get(`/v1/segments/${id}/sizes${query}`)).body;
  expect((await sizes()).data).toEqual([]);
  await recordSizes(new AbortController().signal);
  await api.contact('bob@example.com');
  await recordSizes(new AbortController().signal);
  expect((await sizes()).data).toEqual([{ day: today(), size: 1 }]);

  await pool.query(`INSERT INTO segment_sizes SELECT $1, now()::date - days, 7 FROM unnest(ARRAY[30, 500]) AS days`, [
    id,
  ]);
  await deleteOldSizes();
  expect((await sizes('?days=400')).data).toHaveLength(2);
  expect((await sizes('?days=7')).data).toHaveLength(1);
  expect((await sizes('?days=401')).error.details).toMatchObject([{ field: 'days' }]);
  const other = await testApi();
  expect((await other.get(`/v1/segments/${id}/sizes`)).status).toBe(404);
});

test('if the segments of a project cannot be counted, those of other projects still are', async () => {
  const apis = await Promise.all(Array.from({ length: 4 }, () => testApi()));
  const filter = { field: 'email', op: 'endsWith', value: '@example.com' };
  const ids = await Promise.all(
    apis.map(async (api) => (await api.post('/v1/segments', { name: 'Examples', filter })).body.data.id as string),
  );
  // One from the middle of the list, whatever its order is.
  const { rows } = await pool.query(`SELECT id FROM segments WHERE id = ANY ($1) GROUP BY project_id, id`, [ids]);
  const broken = rows[1].id as string;
  await pool.query(`UPDATE segments SET filter = '{"field":"none","op":"none"}' WHERE id = $1`, [broken]);
  await recordSizes(new AbortController().signal);
  const sizes = await pool.query('SELECT segment_id AS id FROM segment_sizes WHERE segment_id = ANY ($1)', [ids]);
  expect(sizes.rows.map(({ id }) => id).sort()).toEqual(ids.filter((id) => id !== broken).sort());
  await pool.query('DELETE FROM segments WHERE id = $1', [broken]);
});

test('views belong to a user in a project: saved, listed by name, and deleted', async () => {
  const api = await testApi();
  const [owner, viewer] = [await signedIn(api, 'owner'), await signedIn(api, 'viewer')];
  const CREATE = 'mutation ($input: CreateContactViewInput!) { createContactView(input: $input) { viewId } }';
  const LIST = '{ contactViews { viewId name search } }';
  const create = (name: string, search: unknown = { q: 'ada' }) => owner.graphql(CREATE, { input: { name, search } });
  const { viewId } = (await create('Readers')).body.data.createContactView;
  await create('Authors', { sort: 'name' });
  expect((await owner.graphql(LIST)).body.data.contactViews).toEqual([
    { viewId: expect.any(String), name: 'Authors', search: { sort: 'name' } },
    { viewId, name: 'Readers', search: { q: 'ada' } },
  ]);
  expect((await create('Readers')).body.errors[0].extensions.code).toBe('conflict');
  expect((await create('Long', { q: 'x'.repeat(9000) })).body.errors[0].extensions.code).toBe('validation_error');
  expect((await viewer.graphql(LIST)).body.data.contactViews).toEqual([]);
  const DELETE = 'mutation ($id: ID!) { contactViewDelete(id: $id) { deletedId } }';
  expect((await viewer.graphql(DELETE, { id: viewId })).body.errors).toBeDefined();
  expect((await owner.graphql(DELETE, { id: viewId })).body.data.contactViewDelete.deletedId).toBe(viewId);
  expect((await owner.graphql(LIST)).body.data.contactViews).toHaveLength(1);
});
