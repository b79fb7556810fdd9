import { inTransaction, pool, sql } from '@postroom/platform';
import { interleave, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { lockSuppressions, suppress } from '../src/suppressions.ts';

test('a contact is renamed while its address is being suppressed', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  await inTransaction(async (tx) => {
    await lockSuppressions(tx, api.projectId);
    expect((await api.patch(`/v1/contacts/${ada.id}`, { name: 'Ada' })).status).toBe(200);
    await suppress(tx, api.projectId, [{ email: 'ada@example.com', reason: 'bounced' }]);
  });
  expect((await api.get(`/v1/contacts/${ada.id}`)).body.data).toMatchObject({
    name: 'Ada',
    suppressionStatus: 'bounced',
  });
});

test('an address that is suppressed while its owner is being erased is not stored again', async () => {
  const api = await testApi();
  await interleave(
    async (tx) => {
      await lockSuppressions(tx, api.projectId);
      await sql(
        tx,
        `INSERT INTO suppressions (id, project_id, email, email_key, reason)
         VALUES (postroom_id('sup'), $1, 'erased', erased_key($1, 'ada@example.com'), 'manual')`,
        [api.projectId],
      );
    },
    () => inTransaction((tx) => suppress(tx, api.projectId, [{ email: 'ada@example.com', reason: 'unsubscribed' }])),
  );
  const { rows } = await pool.query('SELECT email FROM suppressions WHERE project_id = $1', [api.projectId]);
  expect(rows).toEqual([{ email: 'erased' }]);
});
