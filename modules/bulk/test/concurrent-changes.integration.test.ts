import { sql } from '@postroom/platform';
import { interleave, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { continueOperation } from '../src/batches.ts';
import { startOperation } from '../src/operations.ts';

test('a contact whose address changes meanwhile is unsubscribed at the new one', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  const { id } = await startOperation(api.projectId, 'key_test', { action: 'unsubscribe', filter: {} });
  await interleave(
    (tx) => sql(tx, 'SELECT FROM bulk_operations WHERE id = $1 FOR UPDATE', [id]),
    () => continueOperation(id, new AbortController().signal),
    () => api.patch(`/v1/contacts/${ada.id}`, { email: 'new@example.com' }),
  );
  expect((await api.get(`/v1/contacts/${ada.id}`)).body.data).toMatchObject({ suppressionStatus: 'unsubscribed' });
});

test('an operation on a segment keeps to the conditions that the segment had when it was started', async () => {
  const api = await testApi();
  const [ada, bob] = [await api.contact('ada@example.com'), await api.contact('bob@example.com')];
  const of = (value: string) => ({ filter: { field: 'email', op: 'contains', value } });
  const segment = (await api.post('/v1/segments', { name: 'Named Ada', ...of('ada@') })).body.data;
  const filter = { segmentId: segment.id as string };
  const { id } = await startOperation(api.projectId, 'key_test', { action: 'delete', filter });
  await api.patch(`/v1/segments/${segment.id}`, of('@example.com'));
  const progress = await continueOperation(id, new AbortController().signal);
  expect(progress).toEqual({ status: 'completed', processed: 1, total: 1 });
  expect((await api.get(`/v1/contacts/${ada.id}`)).status).toBe(404);
  expect((await api.get(`/v1/contacts/${bob.id}`)).status).toBe(200);
});

test.each(['segment', 'where'])(
  'an operation on %s stops when a group that a NOT is about is deleted',
  async (kind) => {
    const api = await testApi();
    const [ada, bob] = [await api.contact('ada@example.com'), await api.contact('bob@example.com')];
    const group = (await api.post('/v1/groups', { name: 'Customers', contact_ids: [ada.id] })).body.data;
    const where = { not: { field: 'group', op: 'is', value: group.id } };
    const segment = (await api.post('/v1/segments', { name: 'No customers', filter: where })).body.data;
    const filter = kind === 'segment' ? { segmentId: segment.id as string } : { where };
    const { id, total } = await startOperation(api.projectId, 'key_test', { action: 'delete', filter });
    expect(total).toBe(1);
    await api.delete(`/v1/groups/${group.id}`);
    expect(await continueOperation(id, new AbortController().signal)).toMatchObject({ status: 'failed', processed: 0 });
    const { error } = (await api.get(`/v1/bulk-operations/${id}`)).body.data;
    expect(error).toContain(`${group.id} is not a group of this project`);
    for (const { id: contactId } of [ada, bob]) expect((await api.get(`/v1/contacts/${contactId}`)).status).toBe(200);
    // Nor does one start whose segment is about everyone since.
    await expect(startOperation(api.projectId, 'key_test', { action: 'delete', filter })).rejects.toThrow(
      `${group.id} is not a group of this project`,
    );
  },
);

test('an operation on a group deleted while a batch is read has no effect', async () => {
  const api = await testApi();
  const [ada, bob] = [await api.contact('ada@example.com'), await api.contact('bob@example.com')];
  const group = (await api.post('/v1/groups', { name: 'Customers', contact_ids: [ada.id] })).body.data;
  const filter = { where: { not: { field: 'group', op: 'is', value: group.id } } };
  const { id } = await startOperation(api.projectId, 'key_test', { action: 'delete', filter });
  // The read of the batch waits for the members, after the conditions have been checked.
  await interleave(
    async (tx) => {
      await sql(tx, 'LOCK TABLE group_members IN ACCESS EXCLUSIVE MODE', []);
      await sql(tx, 'DELETE FROM groups WHERE id = $1', [group.id]);
    },
    () => continueOperation(id, new AbortController().signal),
    async () => {},
  );
  expect((await api.get(`/v1/bulk-operations/${id}`)).body.data).toMatchObject({ status: 'failed', changed: 0 });
  expect((await api.get(`/v1/contacts/${bob.id}`)).status).toBe(200);
});
