import { newId, pool } from '@postroom/platform';
import { type Api, testApi } from '@postroom/testkit';
import { expect, test, vi } from 'vitest';
import { createContactsBatch } from '../src/contact-batch.ts';

interface Listed {
  id: string;
  email: string;
}

const emailsOf = (contacts: Listed[]) => contacts.map(({ email }) => email.split('@')[0]);
const list = async (api: Api, query = '') => {
  const reply = await api.get(`/v1/contacts${query}`);
  expect(reply.status).toBe(200);
  return emailsOf(reply.body.data);
};

test('contacts are listed newest first, with source, segments, suppression status and custom fields', async () => {
  const api = await testApi();
  await api.post('/v1/custom-fields', { key: 'plan', type: 'text' });
  const segment = await api.post('/v1/segments', {
    name: 'Pro',
    filter: { field: 'customFields.plan', op: 'is', value: 'pro' },
  });
  const ada = await api.contact('ada@example.com', { name: 'Ada', custom_fields: { plan: 'pro' } });
  const grace = await api.contact('grace@example.com');
  await api.patch(`/v1/contacts/${grace.id}`, { subscribed: false });
  const reply = await api.get('/v1/contacts');
  expect(reply.body).toMatchObject({
    data: [
      {
        id: grace.id,
        email: 'grace@example.com',
        name: 'grace',
        source: 'api',
        segments: [],
        suppressionStatus: 'unsubscribed',
        customFields: {},
      },
      {
        id: ada.id,
        email: 'ada@example.com',
        name: 'Ada',
        source: 'api',
        segments: [{ id: segment.body.data.id, name: 'Pro' }],
        suppressionStatus: 'none',
        customFields: { plan: 'pro' },
      },
    ],
    has_more: false,
    next_cursor: null,
  });
});

test('a cursor continues where the page ended, even when contacts are added and deleted in between', async () => {
  const api = await testApi();
  const contacts: Listed[] = [];
  for (const name of ['a', 'b', 'c', 'd', 'e']) contacts.push(await api.contact(`${name}@example.com`));
  const first = await api.get('/v1/contacts?limit=2');
  expect(emailsOf(first.body.data)).toEqual(['e', 'd']);
  await api.contact('f@example.com');
  await api.delete(`/v1/contacts/${contacts[3]?.id}`);
  await api.delete(`/v1/contacts/${contacts[2]?.id}`);
  const second = await api.get(`/v1/contacts?limit=2&cursor=${first.body.next_cursor}`);
  expect(emailsOf(second.body.data)).toEqual(['b', 'a']);
  expect(second.body).toMatchObject({ has_more: false, next_cursor: null });
});

test.each([
  'limit=0',
  'limit=1001',
  'limit=x',
  'cursor=x',
  'created_after=yesterday',
  'source=mars',
  'suppressed=maybe',
  'colour=red',
])('the query %s is a validation_error that names the parameter', async (query) => {
  const api = await testApi();
  const reply = await api.get(`/v1/contacts?${query}`);
  expect([reply.status, reply.body.error.details[0].field]).toEqual([400, query.split('=')[0]]);
});

test('email finds one address, case-insensitively; search finds a part of the address or the name', async () => {
  const api = await testApi();
  await api.contact('Ada.Lovelace@example.com', { name: 'Countess' });
  await api.contact('grace@example.org', { name: 'Grace Hopper 100%_\\' });
  await api.contact('zoe@example.net', { name: 'Zoë Élodie Öberg' });
  expect(await list(api, '?email=ada.lovelace%40EXAMPLE.com')).toEqual(['Ada.Lovelace']);
  expect(await list(api, '?email=ada')).toEqual([]);
  expect(await list(api, '?search=LOVE')).toEqual(['Ada.Lovelace']);
  expect(await list(api, '?search=ess')).toEqual(['Ada.Lovelace']);
  expect(await list(api, '?search=%20hopper%20')).toEqual(['grace']);
  expect(await list(api, `?search=${encodeURIComponent('100%_\\')}`)).toEqual(['grace']);
  expect(await list(api, `?search=${encodeURIComponent('a%e')}`)).toEqual([]);
  expect(await list(api, `?search=${encodeURIComponent('élodie ÖBERG')}`)).toEqual(['zoe']);
  expect(await list(api, '?search=lovelace%40example.com')).toEqual(['Ada.Lovelace']);
  expect(await list(api, '?search=lovelace%40example.org')).toEqual([]);
  expect(await list(api, '?search=')).toEqual(['zoe', 'grace', 'Ada.Lovelace']);
});

test.each(['Zo\u00eb', 'Zoe\u0308'])('names and values are found in both forms of an accent: %j', async (name) => {
  const api = await testApi();
  await api.post('/v1/custom-fields', { key: 'friend', type: 'text' });
  await api.post('/v1/custom-fields', { key: 'pet', type: 'select', options: ['Chloe\u0308'] });
  await api.contact('zoe@example.com', { name, custom_fields: { friend: name, pet: 'Chlo\u00eb' } });
  for (const search of ['Zo\u00eb', 'Zoe\u0308'])
    expect(await list(api, `?search=${encodeURIComponent(search)}`), search).toEqual(['zoe']);
  for (const field of ['name', 'customFields.friend'])
    for (const [op, value] of [
      ['is', 'Zo\u00eb'],
      ['is', 'Zoe\u0308'],
      ['contains', 'oe\u0308'],
    ]) {
      const segment = await api.post('/v1/segments/preview', { filter: { field, op, value } });
      expect(segment.body, `${field} ${op} ${value}`).toMatchObject({ data: { contactCount: 1 } });
    }
});

test('a search of one or two letters finds words that start with them', async () => {
  const api = await testApi();
  await api.contact('ada@example.com', { name: 'Countess Lovelace' });
  await api.contact('grace@example.com', { name: 'Rear Admiral' });
  expect(await list(api, '?search=ad')).toEqual(['grace', 'ada']);
  expect(await list(api, '?search=L')).toEqual(['ada']);
  expect(await list(api, '?search=x')).toEqual([]);
});

test('group_id lists the existing members, newest first, combined with every other filter and paginated', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const contacts = [];
  for (const name of ['a', 'b', 'c', 'd']) contacts.push(await api.contact(`${name}@example.com`));
  await other.contact('a@example.com');
  const group = await api.post('/v1/groups', {
    name: 'G',
    emails: ['a@example.com', 'b@example.com', 'd@example.com'],
  });
  const query = `?group_id=${group.body.data.id}`;
  expect(await list(api, query)).toEqual(['d', 'b', 'a']);
  await api.delete(`/v1/contacts/${contacts[3]?.id}`);
  await api.patch(`/v1/contacts/${contacts[0]?.id}`, { subscribed: false });
  expect(await list(api, query)).toEqual(['b', 'a']);
  expect(await list(api, `${query}&suppressed=true`)).toEqual(['a']);
  expect(await list(api, `${query}&search=b%40ex`)).toEqual(['b']);
  expect(await list(api, `${query}&email=c%40example.com`)).toEqual([]);
  const first = await api.get(`/v1/contacts${query}&limit=1`);
  expect(await list(api, `${query}&limit=1&cursor=${first.body.next_cursor}`)).toEqual(['a']);
  expect((await other.get(`/v1/contacts${query}`)).status).toBe(404);
});

test('segment_id lists the contacts in a segment; that of another project is not_found', async () => {
  const [api, other] = [await testApi(), await testApi()];
  for (const name of ['ada', 'grace']) await api.contact(`${name}@example.com`);
  const segment = await api.post('/v1/segments', {
    name: 'S',
    filter: { field: 'email', op: 'startsWith', value: 'ada' },
  });
  const id = segment.body.data.id;
  expect(await list(api, `?segment_id=${id}`)).toEqual(['ada']);
  expect(emailsOf((await api.get(`/v1/segments/${id}/contacts`)).body.data)).toEqual(['ada']);
  expect((await other.get(`/v1/contacts?segment_id=${id}`)).status).toBe(404);
  expect((await other.get(`/v1/segments/${id}/contacts`)).status).toBe(404);
});

test('suppressed and source filter by suppression and by origin', async () => {
  const api = await testApi();
  await api.contact('ada@example.com');
  await createContactsBatch(api.projectId, [{ email: 'grace@example.com' }, { email: 'alan@example.com' }], {
    source: 'import',
  });
  await api.post('/v1/suppressions', { email: 'alan@example.com' });
  expect(await list(api, '?suppressed=true')).toEqual(['alan']);
  expect(await list(api, '?suppressed=false')).toEqual(['grace', 'ada']);
  expect(await list(api, '?source=import')).toEqual(['alan', 'grace']);
  expect(await list(api, '?source=import&suppressed=false')).toEqual(['grace']);
});

test('created_after and created_before bound the time a contact was added', async () => {
  const api = await testApi();
  const times: string[] = [];
  for (const name of ['a', 'b', 'c']) {
    const { id } = await api.contact(`${name}@example.com`);
    times.push((await api.get(`/v1/contacts/${id}`)).body.data.createdAt);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const [, middle] = times;
  expect(await list(api, `?created_after=${middle}`)).toEqual(['c']);
  expect(await list(api, `?created_before=${middle}`)).toEqual(['a']);
  expect(await list(api, `?created_after=${times[0]}&created_before=${times[2]}`)).toEqual(['b']);
  expect(await list(api, '?created_after=2000-01-01T00:00:00Z&created_before=9999-12-31T23:59:59Z')).toEqual([
    'c',
    'b',
    'a',
  ]);
  expect(await list(api, '?created_before=1960-01-01T00:00:00Z')).toEqual([]);
});

test('a page of 100 contacts in any number of segments takes three statements', async () => {
  const api = await testApi();
  await createContactsBatch(
    api.projectId,
    Array.from({ length: 100 }, (_each, n) => ({ email: `person${n}@example.com` })),
  );
  for (const end of ['1', '2', '3']) {
    const filter = { field: 'email', op: 'contains', value: `${end}@` };
    await api.post('/v1/segments', { name: `Ends with ${end}`, filter });
  }
  const query = vi.spyOn(pool, 'query');
  const reply = await api.get('/v1/contacts?limit=100');
  // Another test's worker in this process queries other projects.
  const texts = query.mock.calls
    .filter((call) => JSON.stringify(call).includes(api.projectId))
    .map(([text]: unknown[]) => (typeof text === 'string' ? text : (text as { text: string }).text));
  query.mockRestore();
  expect(reply.body.data.length).toBe(100);
  expect(reply.body.data.find(({ email }: Listed) => email === 'person12@example.com').segments).toMatchObject([
    { name: 'Ends with 2' },
  ]);
  expect(texts.filter((text) => /\b(contacts|segments|suppressions|custom_fields)\b/.test(text)).length).toBe(3);
});

test('a list shows only the contacts of its project, whatever the database contains', async () => {
  const [api, other] = [await testApi(), await testApi()];
  await other.contact('ada@example.com');
  await pool.query('INSERT INTO groups (id, project_id, name) VALUES ($1, $2, $3)', [
    newId('grp'),
    other.projectId,
    'G',
  ]);
  expect(await list(api)).toEqual([]);
  expect(await list(api, '?search=ada')).toEqual([]);
});

test.each(['', '&search=large', '&sort=email'])(
  'a page of contacts with long fields ends early, and its cursor continues (%s)',
  async (query) => {
    const api = await testApi();
    const given = Array.from(
      { length: 210 },
      (_, index) => [newId('ctc'), `large${1000 + index}@example.com`] as const,
    );
    await pool.query(
      `INSERT INTO contacts (id, project_id, email, email_key, name, source, custom_fields)
     SELECT id, $1, email, email, '', 'api', jsonb_build_object('note', repeat('x', 50000)) FROM unnest($2::text[], $3::text[]) AS t (id, email)`,
      [api.projectId, given.map(([id]) => id), given.map(([, email]) => email)],
    );
    const page = await api.get(`/v1/contacts?limit=1000${query}`);
    expect([page.body.data.length, page.body.has_more]).toEqual([201, true]);
    const rest = await api.get(`/v1/contacts?limit=1000${query}&cursor=${page.body.next_cursor}`);
    expect([rest.body.data.length, rest.body.has_more]).toEqual([9, false]);
    const ids = [...page.body.data, ...rest.body.data].map(({ id }: Listed) => id);
    expect(new Set(ids)).toEqual(new Set(given.map(([id]) => id)));
  },
);
