import { pool } from '@postroom/platform';
import { type Api, eventually, signedIn, testApi } from '@postroom/testkit';
import { createProject } from '@postroom/projects';
import { createClient } from 'graphql-sse';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../src/gateway.ts';

const EVENTS = 'subscription { eventRecorded { id type data } }';
const DELIVERIES = 'subscription { webhookDeliveryAttempted { id } }';

let second: Gateway;
beforeAll(async () => {
  second = await startGateway({ host: '127.0.0.1', port: 0 });
});
afterAll(() => second.stop());

type Headers = Record<string, string>;

/** Ways to lose rights, each with headers of a caller and the action that revokes them. */
const endings: [string, string, (api: Api) => Promise<{ headers: Headers; end: () => Promise<unknown> }>][] = [
  [
    'an API key is revoked',
    'unauthorized',
    async (api) => {
      const owner = await signedIn(api);
      const { id, key } = await api.newKey('full');
      const end = () => owner.graphql('mutation ($id: ID!) { revokeApiKey(id: $id) }', { id });
      return { headers: { Authorization: `Bearer ${key}` }, end };
    },
  ],
  [
    'a person signs out',
    'unauthorized',
    async (api) => {
      const { cookie } = await signedIn(api, 'member');
      const headers = { cookie, 'Content-Type': 'application/json', Origin: 'http://127.0.0.1:3400' };
      const end = () => fetch(`${api.url}/app/auth/sign-out`, { method: 'POST', headers, body: '{}' });
      return { headers: { cookie, 'X-Project-Id': api.projectId }, end };
    },
  ],
  [
    'a session is revoked',
    'unauthorized',
    async (api) => {
      const { cookie, graphql } = await signedIn(api, 'member');
      const [{ id }] = (await graphql('{ mySessions { id } }')).body.data.mySessions;
      const end = () => graphql('mutation ($id: ID!) { revokeSession(id: $id) }', { id });
      return { headers: { cookie, 'X-Project-Id': api.projectId }, end };
    },
  ],
  [
    'a member is removed',
    'forbidden',
    async (api) => {
      const [owner, member] = [await signedIn(api), await signedIn(api, 'member')];
      const end = () => owner.graphql('mutation ($id: ID!) { removeMember(userId: $id) }', { id: member.id });
      return { headers: { cookie: member.cookie, 'X-Project-Id': api.projectId }, end };
    },
  ],
  [
    'a role is lowered',
    'forbidden',
    async (api) => {
      const [owner, admin] = [await signedIn(api), await signedIn(api, 'admin')];
      const end = () =>
        owner.graphql('mutation ($id: ID!) { changeRole(userId: $id, role: viewer) }', { id: admin.id });
      return { headers: { cookie: admin.cookie, 'X-Project-Id': api.projectId }, end };
    },
  ],
  [
    'a project is deleted',
    'forbidden',
    async (api) => {
      const { id } = await createProject('Short-lived');
      const { key } = await api.newKey('full', 'all');
      const end = () => pool.query('DELETE FROM projects WHERE id = $1', [id]);
      return { headers: { Authorization: `Bearer ${key}`, 'X-Project-Id': id }, end };
    },
  ],
];

test.each(endings)('when %s, its streams end at once on every gateway, with %s', async (_name, code, begin) => {
  const api = await testApi();
  const { headers, end } = await begin(api);
  const streams = [];
  for (const singleConnection of [false, true])
    for (const url of [api.url, second.url])
      for (const query of [EVENTS, DELIVERIES]) streams.push(follow(url, headers, query, singleConnection));
  await Promise.all(streams.map(({ isOpen }) => isOpen));
  await end();
  for (const { results } of streams)
    await eventually(() => expect(results.at(-1)).toMatchObject({ errors: [{ extensions: { code } }] }));
  await Promise.all(streams.map(({ isComplete }) => isComplete));
});

test('rights that others lose, or that are gained, end no stream', async () => {
  const api = await testApi();
  const [owner, viewer, other] = [await signedIn(api), await signedIn(api, 'viewer'), await signedIn(api, 'member')];
  const headers = { cookie: viewer.cookie, 'X-Project-Id': api.projectId };
  const { results, isOpen } = follow(api.url, headers, EVENTS, false);
  await isOpen;
  await owner.graphql('mutation ($id: ID!) { changeRole(userId: $id, role: admin) }', { id: viewer.id });
  await owner.graphql('mutation ($id: ID!) { removeMember(userId: $id) }', { id: other.id });
  const { id } = await api.newKey('full');
  await owner.graphql('mutation ($id: ID!) { revokeApiKey(id: $id) }', { id });
  await api.contact('ada@example.com');
  await eventually(() => expect(results).toHaveLength(1));
  expect(results[0]).toMatchObject({ data: { eventRecorded: { type: 'contact.created' } } });
});

test('a token belongs to the caller who reserved it', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const url = `${api.url}/graphql/stream`;
  const send = (method: string, key: string, more: Headers = {}, body?: object) =>
    fetch(url, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...more },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const reserved = await send('PUT', api.key);
  expect(reserved.status).toBe(201);
  const token = { 'X-GraphQL-Event-Stream-Token': await reserved.text() };
  const operation = { query: '{ projects { id } }', extensions: { operationId: '1' } };
  expect((await send('GET', other.key, { ...token, Accept: 'text/event-stream' })).status).toBe(404);
  expect((await send('POST', other.key, token, operation)).status).toBe(404);
  expect((await fetch(url, { method: 'PUT' })).status).toBe(401);
  const opened = await send('GET', api.key, { ...token, Accept: 'text/event-stream' });
  expect(opened.status).toBe(200);
  expect((await send('GET', api.key, { ...token, Accept: 'text/event-stream' })).status).toBe(409);
  expect((await send('POST', api.key, token, operation)).status).toBe(202);
  const reader = opened.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes('complete')) text += (await reader?.read())?.value ?? '';
  expect(text).toContain(`data: {"id":"1","payload":{"data":{"projects":[{"id":"${api.projectId}"}]}}}`);
  await reader?.cancel();
});

test('subscriptions are always streamed', async () => {
  const api = await testApi();
  const reply = await api.graphql(EVENTS);
  expect(reply).toMatchObject({ status: 406, body: { errors: [{ extensions: { code: 'validation_error' } }] } });
});

/** Subscribes; open once the server has started it. */
function follow(url: string, headers: Headers, query: string, singleConnection: boolean) {
  const opened = Promise.withResolvers<void>();
  const completed = Promise.withResolvers<void>();
  const results: unknown[] = [];
  const client = createClient({
    url: `${url}/graphql/stream`,
    singleConnection,
    retryAttempts: 0,
    headers: { ...headers }, // the client adds its token to them
    fetchFn: async (input: string, init: RequestInit) => {
      const response = await fetch(input, init);
      const isBegun = singleConnection ? response.status === 202 : response.status === 200;
      if (isBegun) opened.resolve();
      return response;
    },
  } as Parameters<typeof createClient>[0]);
  client.subscribe(
    { query },
    {
      next: (result) => results.push(result),
      error: (error) => {
        opened.reject(error);
        completed.resolve();
      },
      complete: () => completed.resolve(),
    },
  );
  return { results, isOpen: opened.promise, isComplete: completed.promise };
}
