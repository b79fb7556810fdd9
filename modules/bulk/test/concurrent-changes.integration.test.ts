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
