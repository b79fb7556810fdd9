import { inTransaction, pool, sql, type Tx } from '@postroom/platform';
import { type Api, interleave, testApi } from '@postroom/testkit';
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

/** Begins an erasure, or a suppression, of an address. */
const erasing = (projectId: string) => async (tx: Tx) => {
  await lockSuppressions(tx, projectId);
  await sql(
    tx,
    `INSERT INTO suppressions (id, project_id, email, email_key, reason)
     VALUES (postroom_id('sup'), $1, 'erased', erased_key($1, 'ada@example.com'), 'manual')`,
    [projectId],
  );
};
const suppressing = (projectId: string) => (tx: Tx) =>
  suppress(tx, projectId, [{ email: 'ada@example.com', reason: 'bounced' }]);

test.each([
  ['erased', erasing],
  ['suppressed', suppressing],
])('a contact whose address is being %s is not created, by any request', async (_, begin) => {
  const requests: [status: number, (api: Api) => Promise<{ status: number }>][] = [
    [409, (api) => api.post('/v1/contacts', { email: 'Ada@example.com' })],
    [200, (api) => api.post('/v1/contacts/batch', { contacts: [{ email: 'ada@example.com' }] })],
    [400, (api) => api.post('/v1/events', { name: 'paid', email: 'ada@example.com', create_contact: true })],
  ];
  for (const [status, request] of requests) {
    const api = await testApi();
    const reply = await interleave(begin(api.projectId), () => request(api));
    expect(reply.status).toBe(status);
    expect((await api.get('/v1/contacts')).body.data).toEqual([]);
  }
});

test('an address that is suppressed while its owner is being erased is not stored again', async () => {
  const api = await testApi();
  await interleave(erasing(api.projectId), () =>
    inTransaction((tx) => suppress(tx, api.projectId, [{ email: 'ada@example.com', reason: 'unsubscribed' }])),
  );
  const { rows } = await pool.query('SELECT email FROM suppressions WHERE project_id = $1', [api.projectId]);
  expect(rows).toEqual([{ email: 'erased' }]);
});
