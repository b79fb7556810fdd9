import { pool } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { deleteContact } from '@postroom/contacts';
import { MAX_EVENT_NAMES } from '../src/event-schema.ts';

type Api = Awaited<ReturnType<typeof testApi>>;

const DAY_MS = 24 * 60 * 60 * 1000;
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
const stored = async (api: Api) =>
  (await pool.query('SELECT * FROM custom_events WHERE project_id = $1 ORDER BY occurred_at, id', [api.projectId]))
    .rows;
const statuses = (body: { data: { results: { status: string }[] } }) => body.data.results.map(({ status }) => status);

test('a single event is stored, counted and listed, and its properties are described', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  const { status, body } = await api.post('/v1/events', {
    name: 'order placed',
    email: 'Ada@Example.com',
    properties: { order: 'A-1', cart: { total: 5 } },
    occurred_at: ago(DAY_MS),
  });
  expect([status, body.data]).toMatchObject([
    200,
    { accepted: 1, duplicates: 0, errors: 0, results: [{ index: 0, status: 'accepted' }] },
  ]);
  const list = await api.get('/v1/events');
  expect(list.body.data).toMatchObject([
    {
      id: body.data.results[0].id,
      name: 'order placed',
      contactId: ada.id,
      properties: { order: 'A-1', cart: { total: 5 } },
    },
  ]);
  const definitions = await api.get('/v1/event-definitions');
  expect(definitions.body.data).toMatchObject([
    {
      name: 'order placed',
      eventCount: 1,
      locked: false,
      properties: [
        { name: 'cart.total', types: ['number'], hasConflict: false, example: '5' },
        { name: 'order', types: ['string'], example: 'A-1' },
      ],
    },
  ]);
  const { body: graphql } = await api.graphql(
    `query ($id: ID!, $event: ID!) {
      contact(id: $id) { events(latest: 1) { name contact { email } } }
      node(id: $event) { __typename }
      known: customEvents(email: "ADA@example.com") { nodes { contactId } }
      unknown: customEvents(email: "bob@example.com") { nodes { contactId } }
      customEventDefinitions { nodes { days { day eventCount } } }
    }`,
    { id: ada.id, event: body.data.results[0].id },
  );
  expect(graphql.data).toEqual({
    contact: { events: [{ name: 'order placed', contact: { email: 'ada@example.com' } }] },
    node: { __typename: 'CustomEvent' },
    known: { nodes: [{ contactId: ada.id }] },
    unknown: { nodes: [] },
    customEventDefinitions: {
      nodes: [
        {
          days: Array.from({ length: 30 }, (_each, index) => ({
            day: ago((29 - index) * DAY_MS).slice(0, 10),
            eventCount: index === 28 ? 1 : 0,
          })),
        },
      ],
    },
  });
});

test('a bad event of several is reported by the path of its field, and does not block the others', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  const other = await testApi();
  const foreign = await other.contact('eve@example.com');
  const { status, body } = await api.post('/v1/events', {
    events: [
      { name: 'a', contact_id: ada.id },
      { name: 'a', contact_id: foreign.id },
      { name: 'a', email: 'nobody@example.com' },
      { name: 'a', contact_id: ada.id, occurred_at: ago(31 * DAY_MS) },
      { contact_id: ada.id },
      { name: 'a', contact_id: ada.id, properties: { deep: { a: { b: { c: { d: { e: 1 } } } } } } },
    ],
  });
  expect(status).toBe(200);
  expect(body.data).toMatchObject({ accepted: 1, duplicates: 0, errors: 5 });
  expect(body.data.results.map((result: { error: { field: string } | null }) => result.error?.field ?? null)).toEqual([
    null,
    'events.1.contact_id',
    'events.2.email',
    'events.3.occurred_at',
    'events.4.name',
    'events.5.properties.deep.a.b.c.d',
  ]);
  expect(await stored(api)).toHaveLength(1);
  expect(await stored(other)).toHaveLength(0);
});

test('a single bad event is a 400 that names the field', async () => {
  const api = await testApi();
  const bad = async (body: object) => {
    const answer = await api.post('/v1/events', body);
    return [answer.status, answer.body.error?.details?.[0]?.field];
  };
  expect(await bad({ email: 'ada@example.com' })).toEqual([400, 'name']);
  expect(await bad({ name: 'a', email: 'ada@example.com' })).toEqual([400, 'email']);
  expect(await bad({ name: 'a' })).toEqual([400, 'contact_id']);
  expect(await bad({ events: [] })).toEqual([400, 'events']);
  expect(await bad({ name: 'a', events: [{ name: 'a' }] })).toEqual([400, 'name']);
  expect(await bad({ events: Array.from({ length: 1001 }, () => ({ name: 'a' })) })).toEqual([400, 'events']);
});

test('of concurrent events with one id, one is stored and the others are its duplicates', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  const event = { id: 'order-1', name: 'order placed', contact_id: ada.id };
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => api.post('/v1/events', { events: [event, { ...event, id: 'order-2' }, event] })),
  );
  const results = answers.flatMap(({ body }) => body.data.results as { status: string; id: string }[]);
  expect(results.filter(({ status }) => status === 'accepted')).toHaveLength(2);
  expect(results.filter(({ status }) => status === 'duplicate')).toHaveLength(22);
  const rows = await stored(api);
  expect(rows).toHaveLength(2);
  expect(new Set(results.map(({ id }) => id))).toEqual(new Set(rows.map(({ id }) => id)));
});

test('ids belong to their project', async () => {
  const event = { id: 'order-1', name: 'a', email: 'ada@example.com', create_contact: true };
  for (const api of [await testApi(), await testApi()])
    expect(statuses((await api.post('/v1/events', event)).body)).toEqual(['accepted']);
});

test('contacts are created on request, once, and never for a suppressed address', async () => {
  const api = await testApi();
  await api.post('/v1/suppressions', { email: 'sam@example.com' });
  const track = () =>
    api.post('/v1/events', {
      events: [
        { name: 'a', email: 'new@example.com', create_contact: true },
        { name: 'a', email: 'NEW@example.com' },
        { name: 'a', email: 'sam@example.com', create_contact: true },
      ],
    });
  for (const { body } of await Promise.all([track(), track(), track()]))
    expect(statuses(body)).toEqual(['accepted', 'accepted', 'error']);
  const contacts = await api.get('/v1/contacts');
  expect(contacts.body.data).toHaveLength(1);
  expect(await api.events('contact.created')).toHaveLength(1);
  expect(await stored(api)).toHaveLength(6);
});

test('a suppressed contact keeps its events, and a deleted one does not', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  await api.post('/v1/suppressions', { email: 'ada@example.com' });
  expect(statuses((await api.post('/v1/events', { name: 'a', contact_id: ada.id })).body)).toEqual(['accepted']);
  await deleteContact(api.projectId, ada.id);
  expect(await stored(api)).toEqual([]);
  const days = await pool.query('SELECT FROM custom_event_contact_days WHERE project_id = $1', [api.projectId]);
  expect(days.rowCount).toBe(0);
});

test('no event outlives a contact that is deleted at the same time', async () => {
  const api = await testApi();
  const ids = await Promise.all(
    Array.from({ length: 10 }, async (_, index) => (await api.contact(`c${index}@example.com`)).id),
  );
  await Promise.all([
    ...ids.flatMap((id) => [1, 2, 3].map(() => api.post('/v1/events', { name: 'a', contact_id: id }))),
    ...ids.map((id) => deleteContact(api.projectId, id)),
  ]);
  expect(await stored(api)).toEqual([]);
});

test('days of contacts and of names count the events that occurred, by UTC', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  const day = ago(2 * DAY_MS).slice(0, 10);
  const times = [`${day}T00:00:00Z`, `${day}T23:59:59.999Z`, `${day}T12:00:00Z`];
  const event = (occurred_at: string) => ({ name: 'a', contact_id: ada.id, occurred_at });
  await api.post('/v1/events', { events: times.slice(0, 2).map(event) });
  await api.post('/v1/events', event(times[2] as string));
  const { rows } = await pool.query(
    `SELECT day::text, event_count, first_at, last_at FROM custom_event_contact_days WHERE project_id = $1`,
    [api.projectId],
  );
  expect(rows).toEqual([
    { day, event_count: 3, first_at: new Date(times[0] as string), last_at: new Date(times[1] as string) },
  ]);
  const { rows: days } = await pool.query('SELECT event_count FROM custom_event_days WHERE project_id = $1', [
    api.projectId,
  ]);
  expect(days).toEqual([{ event_count: 3 }]);
});

test('lists are filtered by contact, name and period, and pages continue across months', async () => {
  const api = await testApi();
  const [ada, bob] = [await api.contact('ada@example.com'), await api.contact('bob@example.com')];
  const events = Array.from({ length: 12 }, (_, index) => ({
    name: index % 2 === 0 ? 'even' : 'odd',
    contact_id: index % 3 === 0 ? ada.id : bob.id,
    occurred_at: ago(index * 2.5 * DAY_MS),
    properties: { index },
  }));
  await api.post('/v1/events', { events });
  const indexes = async (query: string) => {
    const found: number[] = [];
    for (let cursor = ''; ;) {
      const { body } = await api.get(`/v1/events?limit=2&total=true${query}${cursor}`);
      found.push(...body.data.map((event: { properties: { index: number } }) => event.properties.index));
      if (!body.has_more) return body.total === found.length ? found : `a total of ${body.total}`;
      cursor = `&cursor=${body.next_cursor}`;
    }
  };
  expect(await indexes('')).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  expect(await indexes(`&contact_id=${ada.id}`)).toEqual([0, 3, 6, 9]);
  expect(await indexes('&name=odd')).toEqual([1, 3, 5, 7, 9, 11]);
  expect(await indexes(`&contact_id=${bob.id}&name=odd&from=${ago(13 * DAY_MS)}&to=${ago(DAY_MS)}`)).toEqual([1, 5]);
  const empty = await api.get(`/v1/events?from=${ago(0)}&to=${ago(DAY_MS)}`);
  expect([empty.status, empty.body.error.details[0].field]).toEqual([400, 'to']);
});

test('a conflict of types is shown, and rejected once the schema is locked', async () => {
  const api = await testApi();
  await api.contact('ada@example.com');
  const track = (properties: object) => api.post('/v1/events', { name: 'paid', email: 'ada@example.com', properties });
  await track({ total: 5 });
  await track({ total: '5 EUR' });
  const definition = async () => (await api.get('/v1/event-definitions')).body.data[0];
  const before = await definition();
  expect(before.properties).toMatchObject([{ name: 'total', types: ['number', 'string'], hasConflict: true }]);
  const path = `/v1/event-definitions/${before.id}`;
  const change = {
    locked: true,
    description: 'A payment.',
    properties: [{ name: 'total', type: 'number', default_value: 0 }],
  };
  expect((await api.patch(path, change)).body.data).toMatchObject({
    locked: true,
    description: 'A payment.',
    properties: [{ type: 'number', defaultValue: 0, hasConflict: true }],
  });
  expect((await track({ total: 6 })).status).toBe(200);
  expect((await track({ total: 'six' })).body.error.details[0].field).toBe('properties.total');
  expect((await track({ total: 6, vat: 1 })).body.error.details[0].field).toBe('properties.vat');
  const wrong = await api.patch(path, { properties: [{ name: 'total', default_value: 'none' }] });
  expect([wrong.status, wrong.body.error.details[0].field]).toEqual([400, 'properties.0.default_value']);
  const unknown = await api.patch(path, { properties: [{ name: 'x' }] });
  expect(unknown.body.error.details[0].field).toBe('properties.0.name');
  const twice = await api.patch(path, { properties: [{ name: 'total' }, { name: 'total', remove: true }] });
  expect(twice.body.error.details[0].field).toBe('properties.1.name');
  const many = await api.patch(path, { properties: Array.from({ length: 201 }, () => ({ name: 'total' })) });
  expect(many.body.error.details).toEqual([{ field: 'properties', message: 'must be at most 200 properties' }]);
  expect((await (await testApi()).patch(path, { locked: false })).status).toBe(404);
  expect((await api.delete(path)).body).toEqual({ deleted: true });
  expect(await stored(api)).toHaveLength(3);
  await track({ total: 'anything' });
  expect(await definition()).toMatchObject({ locked: false, properties: [{ types: ['string'] }] });
});

test('a project can have no more than 500 event names, even when new ones arrive at once', async () => {
  const api = await testApi();
  await api.contact('ada@example.com');
  const names = Array.from({ length: MAX_EVENT_NAMES - 1 }, (_, index) => `name ${index}`);
  await pool.query(
    `INSERT INTO custom_event_definitions (id, project_id, name) SELECT postroom_id('ced'), $1, unnest($2::text[])`,
    [api.projectId, names],
  );
  const answers = await Promise.all(
    ['x', 'y', 'z'].map((name) => api.post('/v1/events', { name, email: 'ada@example.com' })),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
  expect((await api.post('/v1/events', { name: 'name 1', email: 'ada@example.com' })).status).toBe(200);
});

test('custom_event.received is recorded only while an endpoint subscribes to it', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  const track = (name: string) => api.post('/v1/events', { name, contact_id: ada.id, properties: { a: 1 } });
  await api.post('/v1/webhooks', { url: 'https://example.com/other', events: ['email.sent'] });
  await track('before');
  expect(await api.events('custom_event.received')).toEqual([]);
  await api.post('/v1/webhooks', { url: 'https://example.com/hook', events: ['custom_event.received'] });
  const { body } = await track('after');
  expect((await api.events('custom_event.received')).map(({ data }) => data)).toMatchObject([
    {
      event_id: body.data.results[0].id,
      name: 'after',
      contact_id: ada.id,
      email: 'ada@example.com',
      properties: { a: 1 },
    },
  ]);
});
