import { db, pool } from '@postroom/platform';
import { type Api, eventually, signedIn, startTestWorker, testApi } from '@postroom/testkit';
import { beforeAll, expect, test } from 'vitest';
import { continueOperation } from '../src/batches.ts';

beforeAll(startTestWorker);

async function people(api: Api, count: number): Promise<void> {
  for (let from = 0; from < count; from += 1000) {
    const contacts = Array.from({ length: Math.min(1000, count - from) }, (_, at) => ({
      email: `p${from + at}@example.com`,
    }));
    await api.post('/v1/contacts/batch', { contacts });
  }
}

const start = (api: Api, body: object) => api.post('/v1/bulk-operations', body);

async function run(api: Api, body: object) {
  const { status, body: reply } = await start(api, body);
  expect([status, reply.error]).toEqual([201, undefined]);
  return ended(api, reply.data.id);
}

const ended = (api: Api, id: string) =>
  eventually(async () => {
    const { data } = (await api.get(`/v1/bulk-operations/${id}`)).body;
    expect(data.status).not.toBe('running');
    return data;
  }, 60_000);

test('everything that matches a filter is added to a new group, and removed from it but for its last members', async () => {
  const api = await testApi();
  await people(api, 1200);
  const added = await run(api, { action: 'add_to_group', group_name: 'All', filter: {} });
  expect(added).toMatchObject({ status: 'completed', total: 1200, processed: 1200, changed: 1200 });
  expect((await api.get(`/v1/groups/${added.groupId}`)).body.data.memberCount).toBe(1200);

  const some = await run(api, { action: 'remove_from_group', group_id: added.groupId, filter: { search: 'p11' } });
  expect(some).toMatchObject({ status: 'completed', changed: 111 });
  const all = await run(api, {
    action: 'remove_from_group',
    group_id: added.groupId,
    filter: { group_id: added.groupId },
  });
  expect(all).toMatchObject({
    status: 'failed',
    error: 'A group must have at least one member. Delete the group instead.',
  });
  expect((await api.get(`/v1/groups/${added.groupId}`)).body.data.memberCount).toBeGreaterThan(0);
});

test('contacts are suppressed, unsubscribed and deleted, as the acts of the user, with their events', async () => {
  const api = await testApi();
  await people(api, 30);
  const owner = await signedIn(api, 'owner');
  const mutation = 'mutation ($input: StartBulkOperationInput!) { startBulkOperation(input: $input) { id } }';
  const { body } = await owner.graphql(mutation, { input: { action: 'unsubscribe', filter: { search: 'p1' } } });
  expect(await ended(api, body.data.startBulkOperation.id)).toMatchObject({ processed: 11, changed: 11 });
  const { data } = (await api.get('/v1/suppressions')).body;
  expect(data).toHaveLength(11);
  expect(data[0]).toMatchObject({ reason: 'unsubscribed', origin: 'user', addedById: owner.id });
  expect(await api.events('contact.unsubscribed')).toHaveLength(11);
  const { rows } = await pool.query('SELECT action, target_id FROM audit_entries WHERE project_id = $1', [
    api.projectId,
  ]);
  expect(rows).toEqual([{ action: 'unsubscribeContacts', target_id: body.data.startBulkOperation.id }]);

  expect(await run(api, { action: 'suppress', filter: { suppressed: false } })).toMatchObject({ changed: 19 });
  const ids = (await api.get('/v1/contacts?limit=3')).body.data.map(({ id }: { id: string }) => id);
  expect(await run(api, { action: 'delete', filter: { ids } })).toMatchObject({ total: 3, changed: 3 });
  expect((await api.get('/v1/contacts?total=true')).body.total).toBe(27);
  expect(await api.events('contact.deleted')).toHaveLength(3);
});

test('an unsaved condition selects by custom field', async () => {
  const api = await testApi();
  await api.post('/v1/custom-fields', { key: 'city', label: 'City', type: 'text' });
  await api.contact('ada@example.com', { custom_fields: { city: 'London' } });
  await api.contact('bob@example.com');
  const wrong = await start(api, { action: 'suppress', filter: { where: { not: { field: 'nope', op: 'is' } } } });
  expect(wrong.body.error.details).toMatchObject([{ field: 'filter.where.not.field' }]);
  const filter = { where: { field: 'customFields.city', op: 'is', value: 'London' } };
  expect(await run(api, { action: 'suppress', filter })).toMatchObject({ total: 1, changed: 1 });
});

test('contacts are selected by when they were added', async () => {
  const api = await testApi();
  await people(api, 3);
  const [early, late] = ['2020-01-01T00:00:00.000Z', '2100-01-01T00:00:00.000Z'];
  const filter = { created_after: early, created_before: late };
  expect(await run(api, { action: 'suppress', filter })).toMatchObject({
    status: 'completed',
    processed: 3,
    changed: 3,
  });
});

test('a worker that resumes continues after the last batch, and two workers process no batch twice', async () => {
  const api = await testApi();
  await people(api, 1100);
  const { id } = (await start(api, { action: 'suppress', filter: {} })).body.data;
  const signal = new AbortController().signal;
  await Promise.all([continueOperation(id, signal), continueOperation(id, signal)]);
  expect(await ended(api, id)).toMatchObject({ status: 'completed', processed: 1100, changed: 1100 });
});

test('a canceled operation stops, and a project has at most three running', async () => {
  const api = await testApi();
  await people(api, 10);
  const running = {
    projectId: api.projectId,
    action: 'suppress',
    filter: {},
    actorId: 'key_x',
    total: 10,
    cursor: 'ctc_0',
  } as const;
  for (const id of ['a', 'b', 'c'])
    await db.bulkOperation.create({ data: { ...running, id: `blk_${id}${api.projectId}` } });
  expect((await start(api, { action: 'suppress', filter: {} })).status).toBe(429);
  await pool.query(`UPDATE bulk_operations SET status = 'completed' WHERE project_id = $1`, [api.projectId]);
  const { id } = (await start(api, { action: 'suppress', filter: {} })).body.data;
  const canceled = await api.post(`/v1/bulk-operations/${id}/cancel`, {});
  expect([200, 409]).toContain(canceled.status);
  await ended(api, id);
  expect((await api.post(`/v1/bulk-operations/${id}/cancel`, {})).status).toBe(409);
});

test.each([
  ['filter', { action: 'suppress', filter: { search: 'nobody-at-all' } }],
  ['groupId', { action: 'remove_from_group', filter: {} }],
  ['groupName', { action: 'add_to_group', filter: {} }],
  ['groupName', { action: 'delete', filter: {}, group_name: 'x' }],
])('invalid input names the field %s', async (field, input) => {
  const api = await testApi();
  await people(api, 2);
  const { status, body } = await start(api, input);
  expect([status, body.error.details[0].field]).toEqual([
    400,
    field.replace('groupId', 'group_id').replace('groupName', 'group_name'),
  ]);
});

test('an operation, a group and a segment of another project are not found', async () => {
  const [api, other] = [await testApi(), await testApi()];
  await people(api, 2);
  await people(other, 2);
  const { id } = (await start(api, { action: 'suppress', filter: {} })).body.data;
  expect((await other.get(`/v1/bulk-operations/${id}`)).status).toBe(404);
  expect((await other.post(`/v1/bulk-operations/${id}/cancel`, {})).status).toBe(404);
  const added = await run(api, { action: 'add_to_group', group_name: 'Mine', filter: {} });
  expect((await start(other, { action: 'add_to_group', group_id: added.groupId, filter: {} })).status).toBe(404);
});
