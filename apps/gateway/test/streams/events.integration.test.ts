import { inTransaction, newId, pool, record } from '@postroom/platform';
import { type Api, eventually, testApi } from '@postroom/testkit';
import { type Client, createClient } from 'graphql-sse';
import { afterEach, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../src/gateway.ts';

const EVENTS = `subscription ($after: String, $types: [String!]) {
  eventRecorded(after: $after, types: $types) { id type created data cursor }
}`;

interface Recorded {
  id: string;
  type: string;
  created: string;
  data: Record<string, unknown>;
  cursor: string;
}

const started: { stop: () => Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((one) => one.stop()));
});

test.each(['distinct connections', 'a single connection'])(
  'events are streamed as they are committed, each with its cursor, over %s',
  async (mode) => {
    const api = await testApi();
    const client = clientOf(api, { singleConnection: mode === 'a single connection' });
    const events = await follow(api, client);
    await api.contact('ada@example.com', { name: 'Ada' });
    await api.contact('grace@example.com');
    await eventually(() => expect(events).toHaveLength(2));
    const [first] = events;
    const [recorded] = await api.events('contact.created');
    expect(first).toMatchObject({ id: recorded?.id, type: 'contact.created', data: recorded?.data });
    expect(Object.keys(first?.data ?? {})).toEqual(Object.keys(recorded?.data ?? {}));
    expect(Date.parse(first?.created ?? '')).toBeGreaterThan(Date.now() - 60_000);
  },
);

test('an event that commits after later ones is not lost, and none is repeated', async () => {
  const api = await testApi();
  const events = await follow(api, clientOf(api));
  const [early, late] = [await pool.connect(), await pool.connect()];
  try {
    await early.query('BEGIN');
    await record(early, api.projectId, [contact('early')]);
    await late.query('BEGIN');
    await record(late, api.projectId, [contact('late')]);
    await late.query('COMMIT');
    await eventually(() => expect(names(events)).toEqual(['late']));
    const cursor = events[0]?.cursor ?? '';
    // A reader that disconnects now and resumes after the commit gets it too, with its current cursor.
    await early.query('COMMIT');
    await eventually(() => expect(names(events)).toEqual(['late', 'early']));
    const again = await follow(api, clientOf(api), { after: cursor });
    await eventually(() => expect(names(again)).toEqual(['early']));
    await inTransaction((tx) => record(tx, api.projectId, [contact('last')]));
    await eventually(() => expect(names(again)).toEqual(['early', 'last']));
    await eventually(() => expect(names(events)).toEqual(['late', 'early', 'last']));
  } finally {
    early.release(true);
    late.release(true);
  }
});

test('resuming after any event returns exactly the rest, however transactions were interleaved', async () => {
  const api = await testApi();
  const events = await follow(api, clientOf(api));
  // Eight writers with overlapping transactions, some with many events and some rolled back; some pages end within one.
  await Promise.all(
    Array.from({ length: 8 }, async (_, writer) => {
      for (let turn = 0; turn < 4; turn++) {
        await inTransaction(async (tx) => {
          const count = writer === 0 ? 150 : 2;
          await record(tx, api.projectId, many(`${writer}.${turn}.a`, count));
          await tx.query('SELECT pg_sleep($1)', [((writer * 7 + turn * 3) % 5) / 50]);
          await record(tx, api.projectId, many(`${writer}.${turn}.b`, count));
          if (writer === 7) throw new Error('rolled back');
        }).catch(() => {});
      }
    }),
  );
  const recorded = (await api.events()).map(({ id }) => id);
  expect(recorded).toHaveLength(4 * 300 + 6 * 4 * 4);
  await eventually(() => expect(events.map(({ id }) => id).sort()).toEqual(recorded.sort()));
  for (const at of [0, 1, 99, 100, 101, 250, 600, events.length - 2]) {
    const rest = await follow(api, clientOf(api), { after: events[at]?.cursor });
    const left = new Set(events.slice(at + 1).map(({ id }) => id));
    await eventually(() => expect(rest).toHaveLength(left.size));
    expect(rest.every(({ id }) => left.has(id))).toBe(true);
    expect(new Set(rest.map(({ id }) => id)).size).toBe(left.size);
  }
});

test('a reader resumes at another gateway with its cursor, and all gateways send the same events', async () => {
  const api = await testApi();
  const [one, two] = [await gateway(), await gateway()];
  const here = await follow(api, clientOf(api, { url: one.url }));
  await api.contact('ada@example.com');
  await eventually(() => expect(here).toHaveLength(1));
  await one.stop();
  await api.contact('grace@example.com');
  const there = await follow(api, clientOf(api, { url: two.url }), { after: here[0]?.cursor });
  await api.contact('alan@example.com');
  await eventually(() =>
    expect(there.map(({ data }) => data.email)).toEqual(['grace@example.com', 'alan@example.com']),
  );
});

test('only requested types are sent, and only those of the project', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const events = await follow(api, clientOf(api), { types: ['contact.deleted'] });
  await other.delete(`/v1/contacts/${(await other.contact('theirs@example.com')).id}`);
  const { id } = await api.contact('ours@example.com');
  await api.delete(`/v1/contacts/${id}`);
  await eventually(() => expect(events).toHaveLength(1));
  expect(events[0]).toMatchObject({ type: 'contact.deleted', data: { contact_id: id } });
});

test.each([
  ['after', { after: 'nonsense' }],
  ['after', { after: Buffer.from('zzzzzzzzz').toString('base64url') }],
  ['types', { types: ['contact.invented'] }],
  ['types', { types: [] }],
])('an invalid subscription is a validation error that names %s', async (field, variables) => {
  const api = await testApi();
  const [result] = await results(clientOf(api), variables);
  expect(result).toMatchObject({ errors: [{ extensions: { code: 'validation_error', details: [{ field }] } }] });
});

test('after a database is restored elsewhere, old events are not repeated', async () => {
  const api = await testApi();
  const { restartTransactionNumbers } = await import('@postroom/migrations');
  await inTransaction((tx) => record(tx, api.projectId, [contact('old')]));
  // A dump contains transaction ids that the new server has not reached.
  await pool.query(`UPDATE events SET xact = xact + 1000000000 WHERE project_id = $1`, [api.projectId]);
  const client = await pool.connect();
  try {
    expect(await restartTransactionNumbers(client)).toBeGreaterThan(0);
    expect(await restartTransactionNumbers(client)).toBe(0);
  } finally {
    client.release();
  }
  const events = await follow(api, clientOf(api));
  await inTransaction((tx) => record(tx, api.projectId, [contact('new')]));
  await eventually(() => expect(names(events)).toEqual(['new']));
});

const contact = (name: string) => ({
  type: 'contact.created',
  data: { contact_id: newId('ctc'), email: 'x@example.com', name },
});
const many = (name: string, count: number) => Array.from({ length: count }, () => contact(name));
const names = (events: readonly Recorded[]) => events.map(({ data }) => data.name);

async function gateway(): Promise<Gateway> {
  const one = await startGateway({ host: '127.0.0.1', port: 0 });
  started.push({ stop: () => one.stop() });
  return one;
}

function clientOf(api: Api, { url = api.url, singleConnection = false } = {}): Client<boolean> {
  const client = createClient({
    url: `${url}/graphql/stream`,
    singleConnection,
    retryAttempts: 0,
    headers: { Authorization: `Bearer ${api.key}` },
  } as Parameters<typeof createClient>[0]);
  started.unshift({ stop: async () => client.dispose() });
  return client;
}

/** The events from now on, or after a cursor, as they arrive. */
async function follow(api: Api, client: Client<boolean>, variables: Record<string, unknown> = {}): Promise<Recorded[]> {
  const after = variables.after ?? (await api.graphql('{ eventCursor }')).body.data.eventCursor;
  const events: Recorded[] = [];
  client.subscribe<{ eventRecorded: Recorded }>(
    { query: EVENTS, variables: { ...variables, after } },
    {
      next: ({ data }) => data && events.push(data.eventRecorded),
      error: () => {},
      complete: () => {},
    },
  );
  return events;
}

async function results(client: Client<boolean>, variables: Record<string, unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const result of client.iterate({ query: EVENTS, variables })) all.push(result);
  return all;
}
