import { config } from '@postroom/platform';
import { type Api, testApi } from '@postroom/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { routes } from '../../src/routes.ts';
import { everything } from './fixtures.ts';

const left = ({ headers }: { headers: Headers }) => Number(headers.get('ratelimit-remaining'));

// Other tests may send any number of requests.
const others = config.RATE_LIMIT_PER_SECOND;
beforeAll(() => {
  config.RATE_LIMIT_PER_SECOND = 100;
});
afterAll(() => {
  config.RATE_LIMIT_PER_SECOND = others;
});

test('every response to a key shows what is left of its 100 requests per second', async () => {
  const api = await testApi();
  const { headers } = await api.get('/v1/groups');
  expect(headers.get('ratelimit-limit')).toBe('100');
  expect(headers.get('ratelimit-policy')).toBe('100;w=1');
  expect(headers.get('ratelimit-reset')).toBe('1');
  expect(left({ headers })).toBeLessThan(100);
  expect((await api.get('/v1/groups/nonsense')).headers.get('ratelimit-limit')).toBe('100');
});

test('past its quota a key gets 429 rate_limited with Retry-After, and others do not', async () => {
  const [api, other] = await Promise.all([testApi(), testApi()]);
  const allowance = config.RATE_LIMIT_PER_SECOND;
  // Small, so that even a slow machine exceeds it.
  config.RATE_LIMIT_PER_SECOND = 2;
  const replies = await Promise.all(Array.from({ length: 60 }, () => api.get('/v1/nothing'))).finally(() => {
    config.RATE_LIMIT_PER_SECOND = allowance;
  });
  const refused = replies.filter((reply) => reply.status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(replies.length - refused.length).toBeGreaterThanOrEqual(2);
  for (const { headers, body } of refused) {
    expect([body.error.code, headers.get('retry-after')]).toEqual(['rate_limited', '1']);
  }
  expect((await other.get('/v1/groups')).status).toBe(200);
});

test('the quota belongs to a key, not to an address or a project', async () => {
  const api = await testApi();
  const { key } = await api.newKey('full');
  await Promise.all(Array.from({ length: 60 }, () => api.get('/v1/nothing')));
  expect(left(await api.send('GET', '/v1/groups', { key }))).toBeGreaterThan(90);
});

/** Seven contacts, oldest first. */
async function withContacts() {
  const api = await testApi();
  for (let index = 0; index < 7; index++) await api.contact(`person${index}@example.com`);
  return api;
}

async function allPages(api: Api, limit: number) {
  const pages: string[][] = [];
  let cursor = '';
  do {
    const { body } = await api.get(`/v1/contacts?limit=${limit}${cursor}`);
    expect(body.has_more).toBe(body.next_cursor !== null);
    pages.push(body.data.map(({ email }: { email: string }) => email.replace('@example.com', '')));
    cursor = body.next_cursor === null ? '' : `&cursor=${encodeURIComponent(body.next_cursor)}`;
  } while (cursor !== '');
  return pages;
}

test('lists are newest first, and cursors join pages without gaps or duplicates', async () => {
  const api = await withContacts();
  const newestFirst = [6, 5, 4, 3, 2, 1, 0].map((index) => `person${index}`);
  for (const limit of [1, 3, 7, 1000]) expect((await allPages(api, limit)).flat()).toEqual(newestFirst);
  expect((await allPages(api, 3)).map((page) => page.length)).toEqual([3, 3, 1]);
  expect(await allPages(api, 7)).toHaveLength(1);
});

test('every list has pages of 1,000 with a total', async () => {
  const { api, fill } = await everything();
  const lists = routes.filter(({ method, reply }) => method === 'GET' && reply.kind === 'page');
  expect(lists.length).toBeGreaterThan(5);
  for (const { path } of lists) {
    const { status, body } = await api.get(`${fill(path)}?limit=1000&total=true`);
    expect([path, status, body.error]).toEqual([path, 200, undefined]);
  }
});

test('a page is stable when newer rows are added and earlier ones deleted', async () => {
  const api = await withContacts();
  const first = (await api.get('/v1/contacts?limit=3')).body;
  await api.contact('newcomer@example.com');
  await api.delete(`/v1/contacts/${first.data[2].id}`);
  const next = (await api.get(`/v1/contacts?limit=3&cursor=${first.next_cursor}`)).body;
  expect(next.data.map(({ email }: { email: string }) => email)).toEqual(
    [3, 2, 1].map((index) => `person${index}@example.com`),
  );
});

test('an empty list is {data: [], has_more: false, next_cursor: null}', async () => {
  const api = await testApi();
  for (const path of ['/v1/groups', '/v1/contacts', '/v1/templates', '/v1/webhooks', '/v1/campaigns']) {
    expect([path, (await api.get(path)).body]).toEqual([path, { data: [], has_more: false, next_cursor: null }]);
  }
});

test("another list's cursor is 400, and another project's shows nothing of it", async () => {
  const [api, other] = await Promise.all([withContacts(), testApi()]);
  const { next_cursor: cursor } = (await api.get('/v1/contacts?limit=1')).body;
  expect((await api.get(`/v1/groups?cursor=${cursor}`)).status).toBe(400);
  expect((await other.get(`/v1/contacts?cursor=${cursor}`)).body.data).toEqual([]);
});
