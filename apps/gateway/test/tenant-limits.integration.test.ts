import { config, databaseAnswerOf, db, pool } from '@postroom/platform';
import { deleteOldSignInRates } from '@postroom/auth';
import { type Api, testApi } from '@postroom/testkit';
import { afterEach, expect, test } from 'vitest';

const { RATE_LIMIT_PER_SECOND, RATE_LIMIT_PROJECT_PER_SECOND, STREAMS_PER_CALLER, STREAMS_PER_PROJECT } = config;
const others = { RATE_LIMIT_PER_SECOND, RATE_LIMIT_PROJECT_PER_SECOND, STREAMS_PER_CALLER, STREAMS_PER_PROJECT };
afterEach(() => void Object.assign(config, others));

const times = <T>(count: number, work: () => Promise<T>) => Promise.all(Array.from({ length: count }, work));

test('GraphQL shares the rate limit of REST: past it a key gets 429 rate_limited with retryAfter, and others do not', async () => {
  const [api, other] = [await testApi(), await testApi()];
  config.RATE_LIMIT_PER_SECOND = 2;
  const replies = await times(40, () => api.graphql('{ groups { nodes { id } } }'));
  Object.assign(config, others);
  const refused = replies.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  for (const { headers, body } of refused) {
    expect([headers.get('retry-after'), headers.get('ratelimit-limit')]).toEqual(['1', '2']);
    expect(body.errors[0].extensions).toEqual({ code: 'rate_limited', retryAfter: 1 });
  }
  const { headers, body } = await other.graphql('{ groups { nodes { id } } }');
  expect([body.errors, headers.get('ratelimit-limit')]).toEqual([undefined, String(RATE_LIMIT_PER_SECOND)]);
});

test('the callers of a project share a quota across REST and GraphQL, separate from other projects', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const { key } = await api.newKey('full');
  config.RATE_LIMIT_PROJECT_PER_SECOND = 3;
  const replies = await times(30, () => api.get('/v1/groups'));
  const ofOther = await other.get('/v1/groups');
  const second = await api.graphql('{ groups { nodes { id } } }', {}, { key });
  Object.assign(config, others);
  const refused = replies.find(({ status }) => status === 429);
  expect(refused?.body.error.message).toBe('All callers of this project together may make 3 requests per second.');
  expect(second.headers.get('ratelimit-limit')).toBe('3');
  expect(ofOther.status).toBe(200);
});

test('an operation with two dozen segment previews is rejected, and one with a few succeeds', async () => {
  const api = await testApi();
  const filter = { field: 'email', op: 'contains', value: 'a' };
  const previews = (count: number) =>
    api.graphql(
      `query ($filter: JSON!) { ${Array.from({ length: count }, (_, n) => `p${n}: segmentPreview(filter: $filter) { contactCount }`).join(' ')} }`,
      { filter },
    );
  const { body } = await previews(24);
  expect(body.errors[0]).toMatchObject({
    message: 'The query is too large: its complexity is over the limit.',
    extensions: { code: 'validation_error' },
  });
  expect((await previews(4)).body.data).toEqual({
    p0: { contactCount: 0 },
    p1: { contactCount: 0 },
    p2: { contactCount: 0 },
    p3: { contactCount: 0 },
  });
});

async function subscribe(api: Api, key = api.key) {
  const stop = new AbortController();
  const response = await fetch(`${api.url}/graphql/stream`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, Accept: 'text/event-stream', 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: 'subscription { eventRecorded { cursor } }' }),
    signal: stop.signal,
  });
  const refusal = response.status === 200 ? undefined : await response.json();
  return { status: response.status, refusal, retryAfter: response.headers.get('retry-after'), stop, response };
}

test('subscriptions are limited per key and project, and closing one frees a slot', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const { key } = await api.newKey('full');
  Object.assign(config, { STREAMS_PER_CALLER: 3, STREAMS_PER_PROJECT: 4 });
  const open = [await subscribe(api), await subscribe(api), await subscribe(api)];
  expect(open.map(({ status }) => status)).toEqual([200, 200, 200]);
  const fourth = await subscribe(api);
  expect([fourth.status, fourth.retryAfter]).toEqual([429, '10']);
  expect(fourth.refusal.errors[0]).toMatchObject({
    message: 'This key may have at most 3 open subscriptions. Close one first.',
    extensions: { code: 'rate_limited', retryAfter: 10 },
  });
  open.push(await subscribe(api, key), await subscribe(other));
  expect((await subscribe(api, key)).refusal.errors[0].message).toMatch(
    /^All callers of this project together may have at most 4/,
  );
  expect(open.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  open[0]?.stop.abort();
  await expect
    .poll(async () => {
      const again = await subscribe(api);
      open.push(again);
      return again.status;
    })
    .toBe(200);
  for (const { stop } of open) stop.abort();
});

test('a slow statement is canceled, and the caller gets 503 timeout', async () => {
  const { rows } = await pool.query<{ statement_timeout: string }>('SHOW statement_timeout');
  expect(rows[0]?.statement_timeout).toBe(`${config.STATEMENT_TIMEOUT_SECONDS}s`);
  const client = await pool.connect();
  try {
    await client.query('BEGIN; SET LOCAL statement_timeout = 50');
    const error = await client.query('SELECT pg_sleep(5)').catch((thrown: unknown) => thrown);
    expect(databaseAnswerOf(error)).toMatchObject({ code: 'timeout' });
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
  expect(databaseAnswerOf(new Error('anything else'))).toBeUndefined();
});

test('a transaction that does not end in time, and a lost connection, are 503 timeout that may be retried', async () => {
  const slow = db.$transaction((tx) => tx.$queryRaw`SELECT pg_sleep(0.1)::text`.then(() => tx.project.count()), {
    timeout: 10,
  });
  const closed = await slow.catch((thrown: unknown) => thrown);
  expect(closed).toMatchObject({ code: 'P2028' });
  const client = await pool.connect();
  const lost = await client
    .query('SELECT pg_terminate_backend(pg_backend_pid())')
    .catch((thrown: unknown) => thrown)
    .finally(() => client.release(true));
  for (const error of [closed, lost, new Error('timeout exceeded when trying to connect')])
    expect(databaseAnswerOf(error)).toMatchObject({ code: 'timeout', retryAfterSeconds: expect.any(Number) });
});

test('a row deleted while the request reads it is 404 not_found', async () => {
  const error = await db.project.findUniqueOrThrow({ where: { id: 'prj_gone' } }).catch((thrown: unknown) => thrown);
  expect(databaseAnswerOf(error)).toMatchObject({ code: 'not_found' });
});

test('GraphQL and sign-in limit anonymous bodies to a small size', async () => {
  const { url } = await testApi();
  const post = async (path: string, body: object) => {
    const headers = { 'Content-Type': 'application/json' };
    return (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).status;
  };
  const query = (bytes: number) => post('/graphql', { query: `{ __typename } # ${'a'.repeat(bytes)}` });
  const signIn = (bytes: number) =>
    post('/app/auth/sign-in/email', { email: `${'a'.repeat(bytes)}@example.com`, password: 'not the password' });
  expect([await query(1_000_000), await signIn(100_000)]).toEqual([413, 413]);
  expect(await query(10)).toBe(200);
  // The password is wrong, or other tests have used up the sign-in attempts of this client address.
  expect([401, 429]).toContain(await signIn(10));
});

const rates = async (like: string) =>
  (await pool.query('SELECT FROM sign_in_rates WHERE key LIKE $1', [`%${like}%`])).rowCount;

test('made-up addresses create no sign-in counters, and old counters are deleted', async () => {
  const { url } = await testApi();
  const made = `made-up-${Date.now()}`;
  expect((await fetch(`${url}/app/auth/${made}`)).status).toBe(404);
  expect((await fetch(`${url}/app/auth/${made}/${'x'.repeat(6_000)}`)).status).toBe(404);
  expect((await fetch(`${url}/app/auth/reset-password/${'x'.repeat(6_000)}`)).status).toBe(404);
  await fetch(`${url}/app/auth/reset-password/${made}?callbackURL=/`, { redirect: 'manual' });
  expect(await rates(made)).toBe(0);
  expect((await fetch(`${url}/app/auth/get-session`)).status).toBe(200);
  const keys = [`${made}-old`, `${made}-new`];
  for (const [at, hours] of [3, 0].entries())
    await pool.query('INSERT INTO sign_in_rates (id, key, count, last_request) VALUES ($1, $1, 1, $2)', [
      keys[at],
      Date.now() - hours * 3_600_000,
    ]);
  expect(await deleteOldSignInRates()).toBeGreaterThan(0);
  expect([await rates(`${made}-old`), await rates(`${made}-new`)]).toEqual([0, 1]);
});
