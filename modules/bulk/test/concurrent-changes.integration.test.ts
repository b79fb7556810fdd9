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
