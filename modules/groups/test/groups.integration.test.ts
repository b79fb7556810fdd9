import { db, newId, pool, sql } from '@postroom/platform';
import { eventually, interleave, observeStatements, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

const MISSING = newId('grp');

test('a group is created of contact ids and addresses, each contact once', async () => {
  const api = await testApi();
  const [ada, bob] = [await api.contact('ada@example.com'), await api.contact('bob@example.com')];
  const reply = await api.post('/v1/groups', {
    name: 'Beta',
    contact_ids: [ada.id],
    emails: ['ADA@example.com ', 'bob@example.com', 'nobody@example.com'],
  });
  expect(reply.status).toBe(201);
  expect(reply.body).toEqual({
    data: {
      id: expect.stringMatching(/^grp_/),
      name: 'Beta',
      contactIds: [ada.id, bob.id].toSorted(),
      contactCount: 2,
    },
  });
});

test('at least one of contact_ids or emails must resolve to an existing contact', async () => {
  const api = await testApi();
  for (const [field, members] of [
    ['contact_ids', {}],
    ['contact_ids', { contact_ids: [] }],
    ['contact_ids', { contact_ids: [newId('ctc'), 'nonsense'], emails: ['nobody@example.com'] }],
    ['emails', { emails: ['nobody@example.com'] }],
  ] as const) {
    const reply = await api.post('/v1/groups', { name: 'A', ...members });
    expect(reply).toMatchObject({ status: 400, body: { error: { code: 'validation_error', details: [{ field }] } } });
  }
});

test('a name already used in the project is refused, even when both requests arrive at once', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  const create = () => api.post('/v1/groups', { name: 'Beta', contact_ids: [ada.id] });
  const replies = await Promise.all([create(), create()]);
  expect(replies.map((reply) => reply.status).toSorted()).toEqual([201, 409]);
  expect(replies.find((reply) => reply.status === 409)?.body.error.code).toBe('conflict');
});

test('names that look the same are the same, however their accents are written', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  const create = (name: string) => api.post('/v1/groups', { name, contact_ids: [ada.id] });
  expect((await create('Zoe\u0308')).body.data.name).toBe('Zo\u00eb');
  expect((await create('Zo\u00eb')).status).toBe(409);
});

test('a rename to a name already used in the project is a conflict; to its own name it is not', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  const { body: one } = await api.post('/v1/groups', { name: 'One', contact_ids: [ada.id] });
  await api.post('/v1/groups', { name: 'Two', contact_ids: [ada.id] });
  expect((await api.patch(`/v1/groups/${one.data.id}`, { name: 'Two' })).status).toBe(409);
  expect((await api.patch(`/v1/groups/${one.data.id}`, { name: 'One' })).status).toBe(200);
});

test('a group is retrieved with its member count and the members that still exist', async () => {
  const api = await testApi();
  const [ada, bob] = [await api.contact('ada@example.com', { name: 'Ada' }), await api.contact('bob@example.com')];
  const { body } = await api.post('/v1/groups', { name: 'Beta', contact_ids: [ada.id, bob.id] });
  await api.delete(`/v1/contacts/${bob.id}`);
  const reply = await api.get(`/v1/groups/${body.data.id}`);
  expect(reply.status).toBe(200);
  expect(reply.body).toEqual({
    data: {
      id: body.data.id,
      name: 'Beta',
      memberCount: 2,
      contacts: [{ id: ada.id, email: 'ada@example.com', name: 'Ada' }],
    },
  });
});

test('groups are listed newest first, with the ids and the number of their members', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  for (const name of ['One', 'Two', 'Three']) await api.post('/v1/groups', { name, contact_ids: [ada.id] });
  const first = await api.get('/v1/groups?limit=2');
  expect(first.body.data.map((group: { name: string }) => group.name)).toEqual(['Three', 'Two']);
  expect(first.body).toMatchObject({ has_more: true, data: [{ contactIds: [ada.id], contactCount: 1 }, {}] });
  const second = await api.get(`/v1/groups?limit=2&cursor=${first.body.next_cursor}`);
  expect(second.body).toMatchObject({ data: [{ name: 'One' }], has_more: false, next_cursor: null });
});

test('contact_ids replaces the whole member list; omitted leaves membership untouched', async () => {
  const api = await testApi();
  const [ada, bob] = [await api.contact('ada@example.com'), await api.contact('bob@example.com')];
  const { body } = await api.post('/v1/groups', { name: 'Beta', contact_ids: [ada.id] });
  const renamed = await api.patch(`/v1/groups/${body.data.id}`, { name: 'Alpha' });
  expect(renamed.body.data).toMatchObject({ name: 'Alpha', contactIds: [ada.id] });
  const replaced = await api.patch(`/v1/groups/${body.data.id}`, { contact_ids: [bob.id] });
  expect(replaced.body.data).toMatchObject({ name: 'Alpha', contactIds: [bob.id] });
});

test('an empty update is a validation error, and a group must keep at least one member', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  const { body } = await api.post('/v1/groups', { name: 'Beta', contact_ids: [ada.id] });
  for (const update of [{}, { contact_ids: [] }, { contact_ids: [newId('ctc')] }, { name: ' ' }]) {
    expect(await api.patch(`/v1/groups/${body.data.id}`, update)).toMatchObject({
      status: 400,
      body: { error: { code: 'validation_error' } },
    });
  }
  expect((await api.get(`/v1/groups/${body.data.id}`)).body.data.memberCount).toBe(1);
});

test('contacts already in the group are not duplicated, and matched counts those that exist', async () => {
  const api = await testApi();
  const [ada, bob] = [await api.contact('ada@example.com'), await api.contact('bob@example.com')];
  const { body } = await api.post('/v1/groups', { name: 'Beta', contact_ids: [ada.id] });
  const reply = await api.post(`/v1/groups/${body.data.id}/contacts`, {
    contact_ids: [ada.id, newId('ctc')],
    emails: ['bob@example.com', 'Bob@example.com'],
  });
  expect(reply).toMatchObject({ status: 200, body: { matched: 2, data: { memberCount: 2 } } });
  expect(reply.body.data.contacts.map((contact: { id: string }) => contact.id).toSorted()).toEqual(
    [ada.id, bob.id].toSorted(),
  );
});

test('deleting a group does not delete its contacts', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  const { body } = await api.post('/v1/groups', { name: 'Beta', contact_ids: [ada.id] });
  expect(await api.delete(`/v1/groups/${body.data.id}`)).toMatchObject({ status: 200, body: { deleted: true } });
  expect((await api.get(`/v1/groups/${body.data.id}`)).status).toBe(404);
  expect((await api.get(`/v1/contacts/${ada.id}`)).status).toBe(200);
});

test("a missing group, another project's group and an invalid id are not_found before the body is validated", async () => {
  const [api, other] = [await testApi(), await testApi()];
  const eve = await other.contact('eve@example.com');
  const { body } = await other.post('/v1/groups', { name: 'Theirs', contact_ids: [eve.id] });
  for (const id of [MISSING, body.data.id, 'nonsense', eve.id]) {
    const path = `/v1/groups/${id}`;
    const replies = [
      await api.get(path),
      await api.patch(path, { name: 7 }),
      await api.patch(path, { name: 'x' }),
      await api.post(`${path}/contacts`, { nonsense: 1 }),
      await api.delete(path),
    ];
    for (const reply of replies) expect(reply).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  }
});

test("another project's contacts cannot be added to a group", async () => {
  const [api, other] = [await testApi(), await testApi()];
  const eve = await other.contact('eve@example.com');
  expect((await api.post('/v1/groups', { name: 'Mine', contact_ids: [eve.id] })).status).toBe(400);
});

test("a contact's group membership changes: contact.updated fires for each contact concerned, and for no other", async () => {
  const api = await testApi();
  const [ada, bob] = [await api.contact('ada@example.com'), await api.contact('bob@example.com')];
  const { body } = await api.post('/v1/groups', { name: 'Beta', contact_ids: [ada.id] });
  await api.post(`/v1/groups/${body.data.id}/contacts`, { contact_ids: [ada.id, bob.id] });
  await api.patch(`/v1/groups/${body.data.id}`, { contact_ids: [ada.id] });
  await api.patch(`/v1/groups/${body.data.id}`, { name: 'Alpha' });
  await api.delete(`/v1/groups/${body.data.id}`);
  const emails = (await api.events('contact.updated')).map((event) => event.data.email);
  expect(emails).toEqual(['ada@example.com', 'bob@example.com', 'bob@example.com', 'ada@example.com']);
});

test('removing contacts from a group always leaves at least one member', async () => {
  const api = await testApi();
  const [ada, bob] = [await api.contact('ada@example.com'), await api.contact('bob@example.com')];
  const { body } = await api.post('/v1/groups', { name: 'Beta', contact_ids: [ada.id, bob.id] });
  const remove = (contactIds: string[]) =>
    api.graphql(
      'mutation ($id: ID!, $contactIds: [ID!]!) { groupRemoveContacts(id: $id, contactIds: $contactIds) { removed group { contactCount } } }',
      { id: body.data.id, contactIds },
    );
  expect((await remove([ada.id, bob.id])).body.errors[0].extensions.code).toBe('validation_error');
  expect((await remove([ada.id, newId('ctc')])).body.data).toEqual({
    groupRemoveContacts: { removed: 1, group: { contactCount: 1 } },
  });
  const { body: group } = await api.get(`/v1/groups/${body.data.id}`);
  expect(group.data.contacts.map(({ id }: { id: string }) => id)).toEqual([bob.id]);
});

test('a contact is removed from a group, which keeps at least one member', async () => {
  const api = await testApi();
  const [ada, bob] = [await api.contact('ada@example.com'), await api.contact('bob@example.com')];
  const { body } = await api.post('/v1/groups', { name: 'Beta', contact_ids: [ada.id, bob.id] });
  const remove = (contactId: string) => api.delete(`/v1/groups/${body.data.id}/contacts/${contactId}`);
  expect(await remove(ada.id)).toMatchObject({ status: 200, body: { deleted: true } });
  expect(await remove(ada.id)).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  expect(await remove(bob.id)).toMatchObject({ status: 400, body: { error: { code: 'validation_error' } } });
  expect((await api.get(`/v1/groups/${body.data.id}`)).body.data.memberCount).toBe(1);
  expect((await api.get(`/v1/contacts/${ada.id}`)).status).toBe(200);
  expect((await api.events('contact.updated')).map((event) => event.data.email)).toContain('ada@example.com');
});

test('a contact is not removed from a group of another project', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const [ada, bob] = [await other.contact('ada@example.com'), await other.contact('bob@example.com')];
  const { body } = await other.post('/v1/groups', { name: 'Beta', contact_ids: [ada.id, bob.id] });
  const reply = await api.delete(`/v1/groups/${body.data.id}/contacts/${ada.id}`);
  expect(reply).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  expect((await other.get(`/v1/groups/${body.data.id}`)).body.data.memberCount).toBe(2);
});

test("a contact's groups are listed newest first; those of a missing contact are not_found", async () => {
  const [api, other] = [await testApi(), await testApi()];
  const [ada, bob] = [await api.contact('ada@example.com'), await api.contact('bob@example.com')];
  for (const name of ['One', 'Two', 'Three']) await api.post('/v1/groups', { name, contact_ids: [ada.id, bob.id] });
  await api.post('/v1/groups', { name: 'Without Ada', contact_ids: [bob.id] });
  const list = await api.get(`/v1/contacts/${ada.id}/groups?limit=2&total=true`);
  expect(list.body).toMatchObject({ data: [{ name: 'Three', contactCount: 2 }, { name: 'Two' }], total: 3 });
  const rest = await api.get(`/v1/contacts/${ada.id}/groups?cursor=${list.body.next_cursor}`);
  expect(rest.body).toEqual({
    data: [{ id: expect.stringMatching(/^grp_/), name: 'One', contactCount: 2 }],
    has_more: false,
    next_cursor: null,
  });
  for (const missing of [newId('ctc'), 'nonsense', (await other.contact('ada@example.com')).id]) {
    expect((await api.get(`/v1/contacts/${missing}/groups`)).status).toBe(404);
  }
});

test('a contact lists its groups', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  for (const name of ['Zeta', 'Beta']) await api.post('/v1/groups', { name, contact_ids: [ada.id] });
  const { body } = await api.graphql('query ($id: ID!) { contact(id: $id) { groups { name } } }', { id: ada.id });
  expect(body.data.contact.groups).toEqual([{ name: 'Beta' }, { name: 'Zeta' }]);
});

test.each([
  ['groups', { emails: ['ada@example.com'] }],
  ['segments', { filter: { field: 'email', op: 'contains', value: '@' } }],
  ['forms', { double_opt_in: false }],
  ['journeys', {}],
])('%s are found by a part of their name, whatever its case, and counted', async (list, body) => {
  const api = await testApi();
  await api.contact('ada@example.com');
  for (const name of ['Spring 100%', 'Autumn', 'spring_2'])
    expect((await api.post(`/v1/${list}`, { name, ...body })).status).toBe(201);
  const found = async (search: string) => {
    const reply = await api.get(`/v1/${list}?total=true&search=${encodeURIComponent(search)}`);
    return [reply.body.total, ...reply.body.data.map(({ name }: { name: string }) => name)];
  };
  expect(await found('SPRING')).toEqual([2, 'spring_2', 'Spring 100%']);
  expect(await found('0%')).toEqual([1, 'Spring 100%']);
  expect(await found('_')).toEqual([1, 'spring_2']);
  expect(await found('winter')).toEqual([0]);
});

test('an update that leaves no member is a validation_error, even if the new name is taken', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  const { body: one } = await api.post('/v1/groups', { name: 'One', contact_ids: [ada.id] });
  await api.post('/v1/groups', { name: 'Two', contact_ids: [ada.id] });
  const reply = await api.patch(`/v1/groups/${one.data.id}`, { name: 'Two', contact_ids: [newId('ctc')] });
  expect(reply).toMatchObject({
    status: 400,
    body: { error: { code: 'validation_error', details: [{ field: 'contact_ids' }] } },
  });
});

test('each member is looked up once, also in a project that PostgreSQL has not analyzed', async () => {
  const earlier = await testApi();
  await earlier.post('/v1/contacts/batch', { contacts: addresses(50) });
  await db.$executeRawUnsafe('ANALYZE contacts, groups, group_members');
  const api = await testApi();
  await api.post('/v1/contacts/batch', { contacts: addresses(200) });
  const emails = addresses(200).map(({ email }) => email);
  const { body } = await api.post('/v1/groups', { name: 'All', emails });
  const path = `/v1/groups/${body.data.id}`;
  const sent: { text: string; values: unknown[] | undefined }[] = [];
  const stop = observeStatements((statement) => sent.push(statement));
  const replies = [
    await api.get(path),
    await api.patch(path, { contact_ids: body.data.contactIds.slice(100) }),
    await api.delete(path),
  ];
  stop();
  expect(replies.map((reply) => reply.status)).toEqual([200, 200, 200]);
  const reading = sent.filter(({ text }) => text.includes('group_members') && text.includes('contacts'));
  expect(reading).toHaveLength(3);
  await db.$transaction(async (tx) => {
    await tx.$executeRawUnsafe('SET LOCAL enable_seqscan = off'); // so that the plan doesn't depend on how small the table is
    for (const { text, values = [] } of reading) {
      const plan = await tx.$queryRawUnsafe(`EXPLAIN ${text}`, ...values);
      expect(JSON.stringify(plan)).toContain('contacts_pkey on contacts');
    }
  });
});

const addresses = (count: number) => Array.from({ length: count }, (_, index) => ({ email: `c${index}@example.com` }));

/** A group of 12,000 contacts, in whose ids Ada's is the last, and how many are in it. */
async function largeGroup() {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  const { id } = (await api.post('/v1/groups', { name: 'Large', contact_ids: [ada.id] })).body.data;
  await pool.query(
    `WITH added AS (
       INSERT INTO contacts (id, project_id, email, email_key, name, source)
       SELECT 'ctc_0' || $3::text || lpad(i::text, 17, '0'), $1, i || '@example.com', i || '@example.com', '', 'api'
       FROM generate_series(1, 11999) AS i RETURNING id)
     INSERT INTO group_members (group_id, contact_id) SELECT $2, id FROM added`,
    [api.projectId, id, id.slice(-8)],
  );
  const count = async () => {
    const { rows } = await pool.query('SELECT count(*)::int FROM group_members WHERE group_id = $1', [id]);
    return rows[0].count as number;
  };
  return { api, id, ada, count };
}

test('an answer lists the first members of a large group and counts all, and of many large groups none', async () => {
  const { api, id } = await largeGroup();
  const first = (await api.get('/v1/groups')).body.data[0];
  expect([first.contactIds.length, first.contactCount]).toEqual([10_000, 12_000]);
  const one = (await api.get(`/v1/groups/${id}`)).body.data;
  const ids = one.contacts.map((contact: { id: string }) => contact.id);
  expect([ids.length, one.memberCount]).toEqual([10_000, 12_000]);
  expect(ids).toEqual(first.contactIds);
  await pool.query(
    `WITH made AS (
       INSERT INTO groups (id, project_id, name, updated_at)
       SELECT postroom_id('grp'), $1, 'Copy ' || i, now() FROM generate_series(1, 10) AS i RETURNING id)
     INSERT INTO group_members (group_id, contact_id) SELECT made.id, m.contact_id FROM made, group_members m WHERE m.group_id = $2`,
    [api.projectId, id],
  );
  const { body } = await api.graphql('{ groups(first: 11) { nodes { contacts { email } } } }');
  expect(body.errors[0].extensions.code).toBe('payload_too_large');
  expect((await api.get('/v1/groups?limit=11')).body).toMatchObject({ has_more: false });
});

test.each(['DELETE', 'PATCH'])('%s of a large group removes its members in several transactions', async (method) => {
  const { api, id, ada, count } = await largeGroup();
  const body = method === 'PATCH' ? { body: { contact_ids: [ada.id] } } : {};
  const reply = await interleave(
    // The last but one is removed in the last transaction.
    (tx) =>
      sql(
        tx,
        'SELECT FROM group_members WHERE group_id = $1 AND contact_id <> $2 ORDER BY contact_id DESC LIMIT 1 FOR UPDATE',
        [id, ada.id],
      ),
    () => api.send(method, `/v1/groups/${id}`, body),
    () => eventually(async () => expect(await count()).toBeLessThanOrEqual(2_000)),
  );
  expect(reply.status).toBe(200);
  expect(await count()).toBe(method === 'DELETE' ? 0 : 1);
  const updated = (await api.events('contact.updated')).map(({ data }) => JSON.stringify(data));
  // Ada was added to the group, and only its deletion removes her.
  expect(updated).toHaveLength(method === 'DELETE' ? 12_001 : 12_000);
});
