import { pool, sql } from '@postroom/platform';
import { type Api, eventually, interleave, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

const define = async (api: Api, field: Record<string, unknown>) => {
  const reply = await api.post('/v1/custom-fields', field);
  expect(reply.status).toBe(201);
  return reply.body.data;
};

test('a custom field is created, listed newest first, retrieved, changed and deleted', async () => {
  const api = await testApi();
  const age = await define(api, { key: 'age', type: 'number' });
  expect(age).toEqual({
    id: expect.stringMatching(/^fld_/),
    key: 'age',
    label: 'age',
    type: 'number',
    options: [],
    createdAt: expect.any(String),
  });
  const plan = await define(api, { key: 'plan', label: 'Plan', type: 'select', options: ['free', ' pro '] });
  expect(plan.options).toEqual(['free', 'pro']);
  expect((await api.get('/v1/custom-fields')).body).toEqual({ data: [plan, age], has_more: false, next_cursor: null });
  expect((await api.get(`/v1/custom-fields/${plan.id}`)).body.data).toEqual(plan);
  const changed = await api.patch(`/v1/custom-fields/${plan.id}`, { label: 'Subscription', options: ['pro'] });
  expect(changed.body.data).toEqual({ ...plan, label: 'Subscription', options: ['pro'] });
  expect((await api.delete(`/v1/custom-fields/${plan.id}`)).body).toEqual({ deleted: true });
  expect((await api.get(`/v1/custom-fields/${plan.id}`)).status).toBe(404);
});

test('a taken key is a conflict, even with concurrent requests; another project may use it', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const create = () => api.post('/v1/custom-fields', { key: 'plan', type: 'text' });
  const replies = await Promise.all([create(), create()]);
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 409]);
  await define(other, { key: 'plan', type: 'text' });
});

test.each([
  [{ key: '1st', type: 'text' }, 'key'],
  [{ key: 'with space', type: 'text' }, 'key'],
  [{ key: 'email', type: 'text' }, 'key'],
  [{ key: 'Postal_Address', type: 'text' }, 'key'],
  [{ key: 'plan', type: 'colour' }, 'type'],
  [{ key: 'plan', type: 'text', label: ' ' }, 'label'],
  [{ key: 'plan', type: 'select' }, 'options'],
  [{ key: 'plan', type: 'text', options: ['a'] }, 'options'],
  [{ key: 'plan', type: 'select', options: ['a', ''] }, 'options.1'],
  [{ key: 'plan', type: 'select', options: ['a', 'a'] }, 'options.1'],
])('the field %j is a validation_error of %s', async (body, field) => {
  const api = await testApi();
  const reply = await api.post('/v1/custom-fields', body);
  expect([reply.status, reply.body.error.details[0].field]).toEqual([400, field]);
});

test("custom_fields values are coerced against the project's custom-field schema", async () => {
  const api = await testApi();
  await define(api, { key: 'company', type: 'text' });
  await define(api, { key: 'age', type: 'number' });
  await define(api, { key: 'vip', type: 'boolean' });
  await define(api, { key: 'born', type: 'date' });
  await define(api, { key: 'plan', type: 'select', options: ['free', 'pro'] });
  const reply = await api.post('/v1/contacts', {
    email: 'ada@example.com',
    custom_fields: { company: 42, age: '36', vip: 'yes', born: '1815-12-10T12:00:00Z', plan: 'PRO' },
  });
  expect(reply.body.data.customFields).toEqual({ company: '42', age: 36, vip: true, born: '1815-12-10', plan: 'pro' });
});

test('an unknown key and a value that cannot be coerced are 400, each named', async () => {
  const api = await testApi();
  await define(api, { key: 'ageYears', type: 'number' });
  const reply = await api.post('/v1/contacts', {
    email: 'ada@example.com',
    custom_fields: { ageYears: 'old', colour: 'red' },
  });
  expect(reply.status).toBe(400);
  expect(reply.body.error).toMatchObject({
    code: 'validation_error',
    message: 'custom_fields.ageYears: must be a number',
    details: [
      { field: 'custom_fields.ageYears', message: 'must be a number' },
      { field: 'custom_fields.colour', message: 'is not a custom field of this project' },
    ],
  });
  expect((await api.get('/v1/contacts')).body.data).toEqual([]);
});

test('property names of JavaScript objects are unknown keys like any other', async () => {
  const api = await testApi();
  for (const key of ['__proto__', 'constructor', 'toString']) {
    const reply = await api.post('/v1/contacts', `{"email":"ada@example.com","custom_fields":{"${key}":"x"}}`);
    expect([reply.status, reply.body.error.details[0]?.field]).toEqual([400, `custom_fields.${key}`]);
  }
});

test('deleting a field removes its values, so that a later field with the same key starts empty', async () => {
  const api = await testApi();
  const field = await define(api, { key: 'plan', type: 'text' });
  await define(api, { key: 'age', type: 'number' });
  const ada = await api.contact('ada@example.com', { custom_fields: { plan: 'pro', age: 36 } });
  await api.delete(`/v1/custom-fields/${field.id}`);
  expect((await api.get(`/v1/contacts/${ada.id}`)).body.data.customFields).toEqual({ age: 36 });
  await define(api, { key: 'plan', type: 'boolean' });
  expect((await api.get(`/v1/contacts/${ada.id}`)).body.data.customFields).toEqual({ age: 36 });
});

test('a field used by a segment is not deleted: the conflict names the segment', async () => {
  const api = await testApi();
  const field = await define(api, { key: 'plan', type: 'text' });
  const filter = {
    or: [{ field: 'source', op: 'is', value: 'api' }, { not: { field: 'customFields.plan', op: 'is', value: 'pro' } }],
  };
  const segment = await api.post('/v1/segments', { name: 'Not pro', filter });
  const refused = await api.delete(`/v1/custom-fields/${field.id}`);
  expect([refused.status, refused.body.error.message]).toEqual([409, 'The segment "Not pro" filters by this field.']);
  await api.delete(`/v1/segments/${segment.body.data.id}`);
  expect((await api.delete(`/v1/custom-fields/${field.id}`)).status).toBe(200);
});

test("another project's custom field is not_found", async () => {
  const [api, other] = [await testApi(), await testApi()];
  const { id } = await define(other, { key: 'plan', type: 'text' });
  for (const reply of [
    await api.get(`/v1/custom-fields/${id}`),
    await api.patch(`/v1/custom-fields/${id}`, { label: 'x' }),
    await api.delete(`/v1/custom-fields/${id}`),
  ]) {
    expect(reply.status).toBe(404);
  }
  expect((await api.post('/v1/contacts', { email: 'ada@example.com', custom_fields: { plan: 'pro' } })).status).toBe(
    400,
  );
});

test('the values of a contact have at most 64,000 characters together, however many writes add to them', async () => {
  const api = await testApi();
  const keys = Array.from({ length: 39 }, (_, at) => `f${at}`);
  await pool.query(
    `INSERT INTO custom_fields (id, project_id, key, label, type) SELECT postroom_id('fld'), $1, key, key, 'text' FROM unnest($2::text[]) AS key`,
    [api.projectId, keys],
  );
  const values = (from: number, until: number) =>
    Object.fromEntries(keys.slice(from, until).map((key) => [key, 'x'.repeat(5_000)]));
  const contact = (customFields: object) => ({ email: 'ada@example.com', custom_fields: customFields });
  const over = await api.post('/v1/contacts', contact(values(0, 13)));
  expect([over.status, over.body.error.details[0].field]).toEqual([400, 'custom_fields']);
  const write = async (from: number) => {
    const contacts = [contact(values(from, from + 12))];
    return (await api.post('/v1/contacts/batch', { contacts, on_conflict: 'update' })).status;
  };
  expect([await write(0), await write(12), await write(24)]).toEqual([200, 200, 400]);
});

test('a field of many contacts is deleted in several transactions, and starts empty when it is made again', async () => {
  const api = await testApi();
  const { id } = await define(api, { key: 'city', type: 'text' });
  await pool.query(
    `INSERT INTO contacts (id, project_id, email, email_key, name, source, custom_fields)
     SELECT 'ctc_0' || $2::text || lpad(i::text, 17, '0'), $1, i || '@example.com', i || '@example.com', '', 'api', '{"city": "Paris"}'
     FROM generate_series(1, 12000) AS i`,
    [api.projectId, id.slice(-8)],
  );
  const count = async () => {
    const { rows } = await pool.query(
      `SELECT count(*)::int FROM contacts WHERE project_id = $1 AND custom_fields ? 'city'`,
      [api.projectId],
    );
    return rows[0].count as number;
  };
  const reply = await interleave(
    (tx) => sql(tx, 'SELECT FROM contacts WHERE project_id = $1 ORDER BY id DESC LIMIT 1 FOR UPDATE', [api.projectId]),
    () => api.delete(`/v1/custom-fields/${id}`),
    async (tx) => {
      await eventually(async () => expect(await count()).toBe(2_000));
      // A value that is written after its contact's turn.
      await sql(
        tx,
        `UPDATE contacts SET custom_fields = '{"city": "Rome"}' WHERE project_id = $1 AND email = '1@example.com'`,
        [api.projectId],
      );
    },
  );
  expect(reply.status).toBe(200);
  expect(await count()).toBe(0);
  expect((await api.get('/v1/custom-fields')).body.data).toEqual([]);
});
