import { sql, type Tx } from '@postroom/platform';
import { interleave, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { listContacts, previewSegment } from '../src/contact-list.ts';
import { countContacts } from '../src/index.ts';
import { recordSizes } from '../src/segment-sizes.ts';

/** A project with two contacts, and segments of those who are not in a group of the first one, or are in it. */
async function withSegments() {
  const api = await testApi();
  const [ada, bob] = [await api.contact('ada@example.com'), await api.contact('bob@example.com')];
  const group = (await api.post('/v1/groups', { name: 'Customers', contact_ids: [ada.id] })).body.data.id as string;
  const condition = { field: 'group', op: 'is', value: group };
  const save = async (name: string, filter: object) =>
    (await api.post('/v1/segments', { name, filter })).body.data.id as string;
  const without = await save('No customers', { not: condition });
  const quiet = await save('Quiet', {
    and: [{ not: condition }, { not: condition }, { field: 'opened', op: 'never' }],
  });
  const all = await save('All', { field: 'email', op: 'endsWith', value: '@example.com' });
  const message = `has a condition on the group ${group}, which was deleted`;
  return { api, ada, bob, group, without, quiet, all, message };
}

test('a segment that names a deleted group has no contacts, and says what was deleted', async () => {
  const { api, bob, group, without, quiet, all, message } = await withSegments();
  const segmentOf = async (id: string) => (await api.get(`/v1/segments/${id}`)).body.data;
  expect(await segmentOf(without)).toMatchObject({ contactCount: 1, problems: [] });
  expect((await api.get(`/v1/segments/${without}/contacts`)).body.data).toMatchObject([{ id: bob.id }]);
  await api.delete(`/v1/groups/${group}`);
  const problems = [{ field: 'filter', message }];
  for (const id of [without, quiet]) expect(await segmentOf(id)).toMatchObject({ contactCount: 0, problems });
  expect(await segmentOf(all)).toMatchObject({ contactCount: 2, problems: [] });
  const listed = (await api.get('/v1/segments')).body.data as { problems: unknown[] }[];
  expect(listed.map((each) => each.problems.length)).toEqual([0, 1, 1]);
  const reply = await api.get(`/v1/segments/${without}/contacts`);
  expect([reply.status, reply.body.error.details]).toEqual([400, problems]);
  const segments = (await api.get('/v1/contacts')).body.data.map((each: { segments: object[] }) => each.segments);
  expect(segments).toEqual([[{ id: all, name: 'All' }], [{ id: all, name: 'All' }]]);
  expect((await api.get(`/v1/contacts/${bob.id}`)).body.data.segments).toEqual([{ id: all, name: 'All' }]);
});

test('contacts of a segment that names a deleted group are not listed', async () => {
  const { api, group, without, message } = await withSegments();
  const list = () => api.get(`/v1/contacts?segment_id=${without}&total=true`);
  expect((await list()).body).toMatchObject({ data: [{ email: 'bob@example.com' }], total: 1 });
  await api.delete(`/v1/groups/${group}`);
  const reply = await list();
  expect([reply.status, reply.body.error.details]).toEqual([400, [{ field: 'segment_id', message }]]);
});

test('no size of a segment that names a deleted group is recorded', async () => {
  const { api, group, without, all } = await withSegments();
  await api.delete(`/v1/groups/${group}`);
  await recordSizes(new AbortController().signal);
  const sizesOf = async (id: string) => (await api.get(`/v1/segments/${id}/sizes`)).body.data;
  expect(await sizesOf(without)).toEqual([]);
  expect(await sizesOf(all)).toMatchObject([{ size: 2 }]);
});

/** Runs `read` with the members of groups locked, and deletes the group once it waits for them. */
const deletedDuring = (group: string, read: () => Promise<unknown>) =>
  interleave(
    (tx: Tx) => sql(tx, 'LOCK TABLE group_members IN ACCESS EXCLUSIVE MODE', []),
    read,
    async (tx) => {
      await sql(tx, 'DELETE FROM groups WHERE id = $1', [group]);
    },
  );

test.each(['a segment', 'conditions'])('a group that %s names may be deleted during a read', async (kind) => {
  const { api, group, without } = await withSegments();
  const where = { not: { field: 'group', op: 'is', value: group } };
  const filter = kind === 'a segment' ? { segmentId: without } : { where };
  await expect(deletedDuring(group, () => listContacts(api.projectId, filter))).rejects.toThrow(group);
});

test.each([
  ['count', (projectId: string, where: object) => countContacts(projectId, { where }, 10)],
  ['preview', previewSegment],
])('a group that conditions name may be deleted during a %s', async (_, read) => {
  const { api, group } = await withSegments();
  const where = { not: { field: 'group', op: 'is', value: group } };
  await expect(deletedDuring(group, () => read(api.projectId, where))).rejects.toThrow(group);
});
