import { pool } from '@postroom/platform';
import { type Api, signedIn, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { createContact, getContact } from '../src/contacts.ts';
import { suppress } from '../src/suppressions.ts';

const typesOf = async (api: Api) => (await api.events()).map(({ type }) => type);

test('a new contact is 201; an existing one is 200 with the contact unchanged', async () => {
  const api = await testApi();
  const created = await api.post('/v1/contacts', { email: 'ada@example.com', name: 'Ada Lovelace' });
  expect(created.status).toBe(201);
  expect(created.body).toEqual({
    data: {
      id: expect.stringMatching(/^ctc_/),
      email: 'ada@example.com',
      name: 'Ada Lovelace',
      hasName: true,
      source: 'api',
      segments: [],
      suppressionStatus: 'none',
      customFields: {},
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: created.body.data.createdAt,
    },
  });
  const again = await api.post('/v1/contacts', { email: 'ada@example.com', name: 'Somebody else' });
  expect(again.status).toBe(200);
  expect(again.body).toEqual(created.body);
  expect(await typesOf(api)).toEqual(['contact.created']);
});

test('two concurrent creates of the same contact always return 201 and 200', async () => {
  const api = await testApi();
  for (let round = 0; round < 20; round++) {
    const create = (email: string) => api.post('/v1/contacts', { email });
    const replies = await Promise.all([create(`ada${round}@example.com`), create(` ADA${round}@Example.com`)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 201]);
    expect(replies[0]?.body.data.id).toBe(replies[1]?.body.data.id);
  }
  expect(await typesOf(api)).toEqual(Array.from({ length: 20 }, () => 'contact.created'));
});

test('emails are unique in a project ignoring case and surrounding space, and independent of other projects', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const ada = await api.contact(' Ada@Example.com ');
  expect(ada.email).toBe('Ada@Example.com');
  expect((await api.post('/v1/contacts', { email: 'ada@example.COM' })).body.data.id).toBe(ada.id);
  expect((await other.post('/v1/contacts', { email: 'ada@example.com' })).status).toBe(201);
});

test('the name defaults to the local part of the email address when omitted, null or blank', async () => {
  const api = await testApi();
  expect((await api.contact('ada.lovelace@example.com')).name).toBe('ada.lovelace');
  expect((await api.contact('grace@example.com', { name: null })).name).toBe('grace');
  expect((await api.contact('alan@example.com', { name: '  ' })).name).toBe('alan');
  expect((await api.contact('edsger@example.com', { name: ' Edsger W. Dijkstra ' })).name).toBe('Edsger W. Dijkstra');
});

test.each([
  '',
  'ada',
  'ada@',
  '@example.com',
  'ada@localhost',
  'a da@example.com',
  'ada@exa mple.com',
  `${'a'.repeat(250)}@example.com`,
])('the address "%s" is a validation_error that names the field', async (email) => {
  const api = await testApi();
  const reply = await api.post('/v1/contacts', { email });
  expect(reply.status).toBe(400);
  expect(reply.body.error).toMatchObject({ code: 'validation_error', details: [{ field: 'email' }] });
});

test('a name is at most 200 characters', async () => {
  const api = await testApi();
  const reply = await api.post('/v1/contacts', { email: 'ada@example.com', name: 'x'.repeat(201) });
  expect(reply.status).toBe(400);
  expect(reply.body.error.details).toEqual([{ field: 'name', message: 'must be at most 200 characters' }]);
});

test('a new contact with a suppressed address is a conflict; an existing one is returned', async () => {
  const api = await testApi();
  await api.contact('ada@example.com');
  await suppress(pool, api.projectId, [
    { email: 'ada@example.com', reason: 'bounced' },
    { email: 'Grace@example.com', reason: 'bounced' },
  ]);
  expect((await api.post('/v1/contacts', { email: 'ada@example.com' })).status).toBe(200);
  const refused = await api.post('/v1/contacts', { email: 'grace@example.com' });
  expect(refused.status).toBe(409);
  expect(refused.body.error.code).toBe('conflict');
});

test('a contact is retrieved by its id', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com', { name: 'Ada' });
  const reply = await api.get(`/v1/contacts/${ada.id}`);
  expect(reply.status).toBe(200);
  expect(reply.body.data).toEqual(ada);
});

test('an absent contact, one of another project and an id of another type are not_found for every operation', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const theirs = await other.contact('ada@example.com');
  for (const id of [theirs.id, 'ctc_01jd0000000000000000000000', theirs.id.replace('ctc', 'grp'), 'x', '%00']) {
    for (const reply of [
      await api.get(`/v1/contacts/${id}`),
      await api.patch(`/v1/contacts/${id}`, { name: 1 }),
      await api.delete(`/v1/contacts/${id}`),
    ]) {
      expect([id, reply.status, reply.body.error.code]).toEqual([id, 404, 'not_found']);
    }
  }
  expect((await other.get(`/v1/contacts/${theirs.id}`)).body.data).toEqual(theirs);
});

test('a patch changes the given fields and keeps the rest', async () => {
  const api = await testApi();
  await api.post('/v1/custom-fields', { key: 'plan', type: 'text' });
  await api.post('/v1/custom-fields', { key: 'age', type: 'number' });
  const ada = await api.contact('ada@example.com', { name: 'Ada', custom_fields: { plan: 'pro', age: 36 } });
  const renamed = await api.patch(`/v1/contacts/${ada.id}`, { name: 'Ada King' });
  expect(renamed.status).toBe(200);
  expect(renamed.body.data).toMatchObject({
    id: ada.id,
    email: 'ada@example.com',
    name: 'Ada King',
    customFields: { plan: 'pro', age: 36 },
  });
  const moved = await api.patch(`/v1/contacts/${ada.id}`, { email: 'ada@king.example' });
  expect(moved.body.data).toMatchObject({ email: 'ada@king.example', name: 'Ada King' });
  const nothing = await api.patch(`/v1/contacts/${ada.id}`, {});
  expect(nothing.status).toBe(200);
  expect(nothing.body.data).toEqual(moved.body.data);
});

test('custom_fields replaces the existing values', async () => {
  const api = await testApi();
  await api.post('/v1/custom-fields', { key: 'plan', type: 'text' });
  await api.post('/v1/custom-fields', { key: 'age', type: 'number' });
  const ada = await api.contact('ada@example.com', { custom_fields: { plan: 'pro', age: 36 } });
  const patch = async (custom_fields: unknown) =>
    (await api.patch(`/v1/contacts/${ada.id}`, { custom_fields })).body.data.customFields;
  expect(await patch({ age: '37' })).toEqual({ age: 37 });
  expect(await patch({ plan: 'free', age: null })).toEqual({ plan: 'free' });
  expect(await patch({})).toEqual({});
});

test('of concurrent changes based on the same updatedAt, one succeeds', async () => {
  const api = await testApi();
  await api.post('/v1/custom-fields', { key: 'city', type: 'text' });
  const ada = await api.contact('ada@example.com', { custom_fields: { city: 'London' } });
  const { updatedAt } = (await api.get(`/v1/contacts/${ada.id}`)).body.data;
  const change = (city: string) =>
    api.patch(`/v1/contacts/${ada.id}`, { custom_fields: { city }, updated_at: updatedAt });
  const replies = await Promise.all(['Turin', 'Paris', 'Bern'].map(change));
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  const refused = replies.find(({ status }) => status === 409)?.body.error;
  expect(refused).toMatchObject({ code: 'conflict', details: [{ field: 'updated_at' }] });
  const taken = replies.find(({ status }) => status === 200)?.body.data;
  expect((await api.get(`/v1/contacts/${ada.id}`)).body.data).toEqual(taken);
  expect((await api.patch(`/v1/contacts/${ada.id}`, { custom_fields: { city: 'Rome' } })).status).toBe(200);
});

test('an invalid custom field is a validation_error, even if the change is based on an outdated updatedAt', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  const reply = await api.patch(`/v1/contacts/${ada.id}`, {
    custom_fields: { unknown: 1 },
    updated_at: '2020-01-01T00:00:00.000Z',
  });
  expect(reply).toMatchObject({
    status: 400,
    body: { error: { code: 'validation_error', details: [{ field: 'custom_fields.unknown' }] } },
  });
});

test('each change of a contact is later than the one before, however close they are', async () => {
  const api = await testApi();
  const { id } = await api.contact('ada@example.com');
  const far = new Date(Date.now() + 60_000);
  await pool.query('UPDATE contacts SET updated_at = $2 WHERE id = $1', [id, far]);
  await api.patch(`/v1/contacts/${id}`, { name: 'Ada' });
  await api.post('/v1/contacts/batch', { contacts: [{ email: 'ada@example.com', name: 'A' }], on_conflict: 'update' });
  const { updatedAt } = (await api.get(`/v1/contacts/${id}`)).body.data;
  expect(Date.parse(updatedAt)).toBe(far.getTime() + 2);
});

test('an email must not duplicate another contact, even with concurrent changes', async () => {
  const api = await testApi();
  const [ada, grace] = [await api.contact('ada@example.com'), await api.contact('grace@example.com')];
  const taken = await api.patch(`/v1/contacts/${ada.id}`, { email: 'Grace@Example.com' });
  expect([taken.status, taken.body.error.code]).toEqual([409, 'conflict']);
  expect((await api.patch(`/v1/contacts/${ada.id}`, { email: 'ADA@example.com' })).body.data.email).toBe(
    'ADA@example.com',
  );
  const replies = await Promise.all(
    [ada, grace].map(({ id }) => api.patch(`/v1/contacts/${id}`, { email: 'both@example.com' })),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
});

test('an email must not change to a suppressed one', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  await suppress(pool, api.projectId, [{ email: 'gone@example.com', reason: 'bounced' }]);
  expect((await api.patch(`/v1/contacts/${ada.id}`, { email: 'gone@example.com' })).status).toBe(409);
});

test('subscribed=false adds an unsubscribe suppression for the address, subscribed=true clears it; each fires once', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  const subscribe = async (subscribed: boolean) =>
    (await api.patch(`/v1/contacts/${ada.id}`, { subscribed })).body.data.suppressionStatus;
  expect(await subscribe(true)).toBe('none');
  expect(await subscribe(false)).toBe('unsubscribed');
  expect(await subscribe(false)).toBe('unsubscribed');
  expect((await api.get('/v1/suppressions')).body.data).toMatchObject([
    { email: 'ada@example.com', reason: 'unsubscribed' },
  ]);
  expect(await subscribe(true)).toBe('none');
  expect(await typesOf(api)).toEqual(['contact.created', 'contact.unsubscribed', 'contact.subscribed']);
  expect((await api.events('contact.unsubscribed'))[0]?.data).toEqual({
    contact_id: ada.id,
    email: 'ada@example.com',
    name: 'ada',
    origin: 'api',
  });
});

test('a contact without a name is shown with the local part of its current address, which is not its name', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  expect(ada).toMatchObject({ name: 'ada', hasName: false });
  const patch = async (body: object) => (await api.patch(`/v1/contacts/${ada.id}`, body)).body.data;
  expect(await patch({ email: 'countess@example.com' })).toMatchObject({ name: 'countess', hasName: false });
  expect(await patch({ name: 'Ada Lovelace' })).toMatchObject({ name: 'Ada Lovelace', hasName: true });
  expect(await patch({ email: 'ada@king.example' })).toMatchObject({ name: 'Ada Lovelace', hasName: true });
  expect(await patch({ name: ' ' })).toMatchObject({ name: 'ada', hasName: false });
  expect((await api.events('contact.updated')).map(({ data }) => data.name)).toEqual([
    'countess',
    'Ada Lovelace',
    'Ada Lovelace',
    'ada',
  ]);
  const { rows } = await pool.query<{ name: string }>('SELECT name FROM contacts WHERE id = $1', [ada.id]);
  expect(rows).toEqual([{ name: '' }]);
});

test('an unsubscription records who caused it: an API key, a user, or the recipient', async () => {
  const api = await testApi();
  const [ada, bob, eve] = [
    await api.contact('ada@example.com'),
    await api.contact('bob@example.com'),
    await api.contact('eve@example.com'),
  ];
  await api.patch(`/v1/contacts/${ada.id}`, { subscribed: false });
  const owner = await signedIn(api, 'owner');
  await owner.graphql('mutation ($id: ID!) { updateContact(id: $id, input: { subscribed: false }) { id } }', {
    id: bob.id,
  });
  await suppress(pool, api.projectId, [{ email: eve.email, reason: 'unsubscribed' }], { origin: 'recipient' });
  const { data } = (await api.get('/v1/suppressions')).body;
  expect(data).toMatchObject([
    { email: 'eve@example.com', origin: 'recipient', addedById: null },
    { email: 'bob@example.com', origin: 'user', addedById: owner.id },
    { email: 'ada@example.com', origin: 'api', addedById: expect.stringMatching(/^key_/) },
  ]);
  expect((await api.events('contact.unsubscribed')).map((event) => event.data.origin)).toEqual([
    'api',
    'user',
    'recipient',
  ]);
  const activity = await owner.graphql('query ($id: ID!) { contact(id: $id) { activity { type origin actorName } } }', {
    id: bob.id,
  });
  expect(activity.body.data.contact.activity).toContainEqual({
    type: 'contact.suppressed',
    origin: 'user',
    actorName: 'A Person',
  });
  const { rows } = await pool.query<{ action: string }>(
    'SELECT action FROM audit_entries WHERE project_id = $1 AND target_id = $2',
    [api.projectId, bob.id],
  );
  expect(rows).toEqual([{ action: 'unsubscribeContact' }]);
});

test('subscribed=true clears only the unsubscribe suppression: a bounce stays', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  await suppress(pool, api.projectId, [{ email: 'ada@example.com', reason: 'bounced' }]);
  await api.patch(`/v1/contacts/${ada.id}`, { subscribed: false });
  expect((await api.patch(`/v1/contacts/${ada.id}`, { subscribed: true })).body.data.suppressionStatus).toBe('bounced');
});

test('a person who unsubscribed stays unsubscribed at a new address', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  await api.patch(`/v1/contacts/${ada.id}`, { subscribed: false });
  const moved = await api.patch(`/v1/contacts/${ada.id}`, { email: 'ada@king.example' });
  expect(moved.body.data).toMatchObject({ email: 'ada@king.example', suppressionStatus: 'unsubscribed' });
  const both = await api.patch(`/v1/contacts/${ada.id}`, { email: 'countess@king.example', subscribed: true });
  expect(both.body.data).toMatchObject({ email: 'countess@king.example', suppressionStatus: 'none' });
});

test("contact.updated fires when a contact's name or email changes, and for nothing else", async () => {
  const api = await testApi();
  await api.post('/v1/custom-fields', { key: 'plan', type: 'text' });
  const ada = await api.contact('ada@example.com', { name: 'Ada' });
  await api.patch(`/v1/contacts/${ada.id}`, { name: 'Ada', email: 'ada@example.com' });
  await api.patch(`/v1/contacts/${ada.id}`, { custom_fields: { plan: 'pro' } });
  expect(await api.events('contact.updated')).toEqual([]);
  await api.patch(`/v1/contacts/${ada.id}`, { name: 'Ada King', email: 'ada@king.example' });
  expect((await api.events('contact.updated')).map(({ data }) => data)).toEqual([
    { contact_id: ada.id, email: 'ada@king.example', name: 'Ada King' },
  ]);
});

test('a rejected change records nothing', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  await api.contact('grace@example.com');
  await api.patch(`/v1/contacts/${ada.id}`, { email: 'grace@example.com', subscribed: false });
  expect(await typesOf(api)).toEqual(['contact.created', 'contact.created']);
  expect((await getContact(api.projectId, ada.id)).suppressionStatus).toBe('none');
});

test('deleting is permanent, fires one event, and keeps the suppressions of the address', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com', { name: 'Ada' });
  await api.patch(`/v1/contacts/${ada.id}`, { subscribed: false });
  const replies = await Promise.all([api.delete(`/v1/contacts/${ada.id}`), api.delete(`/v1/contacts/${ada.id}`)]);
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 404]);
  expect(replies.find(({ status }) => status === 200)?.body).toEqual({ deleted: true });
  expect((await api.get(`/v1/contacts/${ada.id}`)).status).toBe(404);
  expect((await api.events('contact.deleted')).map(({ data }) => data)).toEqual([
    { contact_id: ada.id, email: 'ada@example.com', name: 'Ada' },
  ]);
  expect((await api.post('/v1/contacts', { email: 'ada@example.com' })).status).toBe(409);
});

test('when a contact and a suppression of its address are written concurrently, the contact and lists show it', async () => {
  const api = await testApi();
  for (let round = 0; round < 20; round++) {
    const email = `ada${round}@example.com`;
    await Promise.allSettled([
      createContact(api.projectId, { email }),
      suppress(pool, api.projectId, [{ email, reason: 'bounced' }]),
    ]);
  }
  const contacts = (await api.get('/v1/contacts')).body.data;
  const suppressed = (await api.get('/v1/contacts?suppressed=true')).body.data;
  expect(contacts.every((contact: { suppressionStatus: string }) => contact.suppressionStatus === 'bounced')).toBe(
    true,
  );
  expect(suppressed).toEqual(contacts);
});

test('an unknown field, a wrong type and a missing address are 400 and name the field', async () => {
  const api = await testApi();
  const fieldOf = async (body: unknown) => {
    const reply = await api.post('/v1/contacts', body);
    return [reply.status, reply.body.error.details[0]?.field];
  };
  expect(await fieldOf({ email: 'ada@example.com', nam: 'Ada' })).toEqual([400, 'nam']);
  expect(await fieldOf({ email: 'ada@example.com', name: 7 })).toEqual([400, 'name']);
  expect(await fieldOf({ email: 'ada@example.com', name: 'A\0da' })).toEqual([400, 'name']);
  expect(await fieldOf({ email: 'ada@example.com', custom_fields: [1] })).toEqual([400, 'custom_fields']);
  expect(await fieldOf({ name: 'Ada' })).toEqual([400, 'email']);
});

test('more concurrent changes than database connections all succeed', async () => {
  const api = await testApi();
  await api.post('/v1/custom-fields', { key: 'age', type: 'number' });
  const { id } = await api.contact('ada@example.com');
  const patches = Array.from({ length: 60 }, (_each, age) =>
    api.patch(`/v1/contacts/${id}`, { custom_fields: { age } }),
  );
  const replies = await Promise.all(patches);
  expect(replies.filter(({ status }) => status !== 200)).toEqual([]);
});

test('every problem of a contact is named at once, when it is created and when it is updated', async () => {
  const api = await testApi();
  const { id } = await api.contact('ada@example.com');
  const wrong = { email: 'grace', name: 'Grace\nHopper', custom_fields: { plan: 'pro' } };
  for (const { status, body } of [
    await api.post('/v1/contacts', wrong),
    await api.patch(`/v1/contacts/${id}`, wrong),
  ]) {
    expect(status).toBe(400);
    expect(body.error.details.map(({ field }: { field: string }) => field)).toEqual([
      'email',
      'name',
      'custom_fields.plan',
    ]);
  }
});
