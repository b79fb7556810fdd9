import { inTransaction, pool } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { createContactsBatch } from '../src/contact-batch.ts';
import { suppress } from '../src/suppressions.ts';

test('each contact of a batch gets its own result, and a bad one does not block the others', async () => {
  const api = await testApi();
  await api.post('/v1/custom-fields', { key: 'age', type: 'number' });
  const ada = await api.contact('ada@example.com', { name: 'Ada' });
  await suppress(pool, api.projectId, [{ email: 'gone@example.com', reason: 'bounced' }]);
  const reply = await api.post('/v1/contacts/batch', {
    contacts: [
      { email: 'grace@example.com', name: 'Grace Hopper', custom_fields: { age: '85' } },
      { email: 'ADA@example.com', name: 'Somebody else' },
      { email: 'not an address' },
      { name: 'No address' },
      { email: 'alan@example.com', custom_fields: { age: 'old' } },
      { email: 'alan@example.com', name: 'x'.repeat(201) },
      { email: 'gone@example.com' },
      { email: 'Grace@Example.com ' },
      { email: null },
    ],
  });
  expect(reply.status).toBe(200);
  const results = reply.body.data;
  expect(results).toMatchObject([
    { index: 0, status: 'created', id: expect.stringMatching(/^ctc_/) },
    { index: 1, status: 'existing', id: ada.id },
    { index: 2, status: 'error', error: { field: 'email' } },
    { index: 3, status: 'error', error: { field: 'email', message: 'is required' } },
    { index: 4, status: 'error', error: { field: 'custom_fields.age', message: 'must be a number' } },
    { index: 5, status: 'error', error: { field: 'name' } },
    { index: 6, status: 'error', error: { field: 'email', message: "is on the project's suppression list" } },
    { index: 7, status: 'existing', id: results[0].id },
    { index: 8, status: 'error', error: { field: 'email', message: 'must not be null' } },
  ]);
  expect((await api.get(`/v1/contacts/${results[0].id}`)).body.data).toMatchObject({
    name: 'Grace Hopper',
    customFields: { age: 85 },
  });
  expect((await api.get(`/v1/contacts/${ada.id}`)).body.data.name).toBe('Ada');
  expect((await api.events()).map(({ type }) => type)).toEqual(['contact.created', 'contact.created']);
});

test('on_conflict=update reports a contact as updated only if a value of it changed', async () => {
  const api = await testApi();
  await api.post('/v1/custom-fields', { key: 'plan', type: 'text' });
  const ada = await api.contact('ada@example.com', { name: 'Ada', custom_fields: { plan: 'free' } });
  const statusOf = async (contact: object) => {
    const contacts = [{ email: 'ada@example.com', ...contact }];
    return (await api.post('/v1/contacts/batch', { on_conflict: 'update', contacts })).body.data;
  };
  for (const same of [{}, { name: null }, { name: 'Ada' }, { custom_fields: { plan: 'free' } }])
    expect(await statusOf(same)).toEqual([{ index: 0, status: 'existing', id: ada.id }]);
  for (const other of [{ name: 'Ada King' }, { custom_fields: { plan: 'pro' } }, { custom_fields: { plan: null } }])
    expect(await statusOf(other)).toEqual([{ index: 0, status: 'updated', id: ada.id }]);
});

test('on_conflict=update writes the names and values given, key by key, and contact.updated fires for changed names', async () => {
  const api = await testApi();
  for (const key of ['plan', 'city']) await api.post('/v1/custom-fields', { key, type: 'text' });
  const ada = await api.contact('ada@example.com', { name: 'Ada', custom_fields: { plan: 'free', city: 'London' } });
  const grace = await api.contact('grace@example.com', { name: 'Grace', custom_fields: { plan: 'free' } });
  const reply = await api.post('/v1/contacts/batch', {
    on_conflict: 'update',
    contacts: [
      { email: 'ada@example.com', name: 'Ada King', custom_fields: { plan: 'pro' } },
      { email: 'grace@example.com', custom_fields: { plan: null, city: 'New York' } },
      { email: 'alan@example.com', name: 'Alan' },
      { email: 'alan@example.com', custom_fields: { city: 'Bletchley' } },
    ],
  });
  expect(reply.body.data.map(({ status }: { status: string }) => status)).toEqual([
    'updated',
    'updated',
    'created',
    'updated',
  ]);
  const alan = reply.body.data[2].id;
  const shown = async (id: string) => {
    const { name, customFields } = (await api.get(`/v1/contacts/${id}`)).body.data;
    return { name, customFields };
  };
  expect(await shown(ada.id)).toEqual({ name: 'Ada King', customFields: { plan: 'pro', city: 'London' } });
  expect(await shown(grace.id)).toEqual({ name: 'Grace', customFields: { city: 'New York' } });
  expect(await shown(alan)).toEqual({ name: 'Alan', customFields: { city: 'Bletchley' } });
  expect((await api.events('contact.updated')).map(({ data }) => data)).toEqual([
    { contact_id: ada.id, email: 'ada@example.com', name: 'Ada King' },
  ]);
});

test('if rows share an address, the last value provided wins', async () => {
  const api = await testApi();
  await api.post('/v1/custom-fields', { key: 'plan', type: 'text' });
  const ada = await api.contact('ada@example.com', { custom_fields: { plan: 'free' } });
  await api.post('/v1/contacts/batch', {
    on_conflict: 'update',
    contacts: [
      { email: 'ada@example.com', name: 'First', custom_fields: { plan: null } },
      { email: 'ADA@example.com', name: 'Second', custom_fields: { plan: 'pro' } },
      { email: 'ada@example.com' },
    ],
  });
  expect((await api.get(`/v1/contacts/${ada.id}`)).body.data).toMatchObject({
    name: 'Second',
    customFields: { plan: 'pro' },
  });
});

test('a batch has 1 to 1,000 contacts', async () => {
  const api = await testApi();
  for (const contacts of [[], Array.from({ length: 1001 }, (_each, n) => ({ email: `a${n}@example.com` }))]) {
    const reply = await api.post('/v1/contacts/batch', { contacts });
    expect([reply.status, reply.body.error.details[0].field]).toEqual([400, 'contacts']);
  }
});

test('a thousand contacts are created in a few statements', async () => {
  const api = await testApi();
  const rows = Array.from({ length: 1000 }, (_each, n) => ({ email: `person${n}@example.com` }));
  const results = await createContactsBatch(api.projectId, rows, { source: 'import' });
  expect(results.filter(({ status }) => status === 'created').length).toBe(1000);
  const { rows: found } = await pool.query(
    'SELECT count(DISTINCT xmin::text)::int AS transactions FROM contacts WHERE project_id = $1',
    [api.projectId],
  );
  expect(found).toEqual([{ transactions: 1 }]);
  expect((await api.events('contact.created')).length).toBe(1000);
});

test('concurrent batches that share contacts in any order create each contact once, and all succeed', async () => {
  const api = await testApi();
  const rows = Array.from({ length: 1000 }, (_each, n) => ({ email: `person${n}@example.com`, name: `Person ${n}` }));
  const orders = [rows, rows.toReversed(), rows.toSorted(() => Math.random() - 0.5), rows.toReversed()];
  const batches = await Promise.all(
    orders.map((order) => createContactsBatch(api.projectId, order, { onConflict: 'update' })),
  );
  const created = batches.flat().filter(({ status }) => status === 'created');
  expect(created.length).toBe(1000);
  expect(batches.flat().filter(({ status }) => status === 'error')).toEqual([]);
  expect((await api.events('contact.created')).length).toBe(1000);
});

test('an address suppressed while batches are written is skipped, or its contact shows the suppression', async () => {
  const api = await testApi();
  const emails = Array.from({ length: 600 }, (_each, n) => `person${n}@example.com`);
  const writing = Array.from({ length: 12 }, (_each, part) =>
    createContactsBatch(
      api.projectId,
      emails.slice(part * 50, part * 50 + 50).map((email) => ({ email })),
    ),
  );
  const suppressing = emails
    .filter((_email, n) => n % 10 === 0)
    .map((email) => inTransaction((tx) => suppress(tx, api.projectId, [{ email, reason: 'bounced' }])));
  await Promise.all([...writing, ...suppressing]);
  const { rows } = await pool.query(
    `SELECT count(*)::int AS wrong FROM contacts c WHERE c.project_id = $1 AND c.suppressed IS DISTINCT FROM EXISTS (
       SELECT FROM suppressions s WHERE s.project_id = c.project_id AND s.email_key = c.email_key)`,
    [api.projectId],
  );
  expect(rows).toEqual([{ wrong: 0 }]);
});

test('contacts are deleted with their project, and those of others stay', async () => {
  const [api, other] = [await testApi(), await testApi()];
  for (const each of [api, other]) await each.contact('ada@example.com');
  await pool.query('DELETE FROM projects WHERE id = $1', [api.projectId]);
  const { rows } = await pool.query('SELECT project_id FROM contacts WHERE project_id = ANY ($1)', [
    [api.projectId, other.projectId],
  ]);
  expect(rows).toEqual([{ project_id: other.projectId }]);
});
