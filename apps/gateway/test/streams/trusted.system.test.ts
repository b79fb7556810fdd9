import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSystem, type System, type SystemApi } from '@postroom/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const TRUSTED = 'query { groups(first: 1) { nodes { id } } }';
const OTHER = 'query { contacts(first: 1) { nodes { email } } }';
const EVENTS = 'subscription { eventRecorded { id } }';
const hash = createHash('sha256').update(TRUSTED).digest('hex');
const persisted = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } });

const folder = mkdtempSync(join(tmpdir(), 'postroom-trusted-'));
let system: System;
let api: SystemApi;

beforeAll(async () => {
  const file = join(folder, 'documents.json');
  writeFileSync(file, JSON.stringify({ [hash]: TRUSTED }));
  const env = { GRAPHQL_TRUSTED_DOCUMENTS: file, GRAPHQL_TRUSTED_ONLY: '1' };
  system = await startSystem({ smtpUrl: 'smtp://127.0.0.1:9', env });
  api = await system.api();
}, 120_000);

afterAll(async () => {
  await system.stop();
  rmSync(folder, { recursive: true });
});

const request = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
  fetch(system.url + path, {
    method,
    headers: { Authorization: `Bearer ${api.key}`, 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const EVENT_STREAM = { Accept: 'text/event-stream' };
const inQuery = (params: object) =>
  new URLSearchParams(
    Object.entries(params).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  ).toString();

/** Every way to run an operation; each returns the whole response. */
const WAYS: Record<string, (params: object) => Promise<string>> = {
  'POST /graphql': async (params) => (await request('POST', '/graphql', params)).text(),
  'GET /graphql': async (params) => (await request('GET', `/graphql?${inQuery(params)}`)).text(),
  'POST /graphql as a stream': async (params) => (await request('POST', '/graphql', params, EVENT_STREAM)).text(),
  'POST /graphql/stream': async (params) => (await request('POST', '/graphql/stream', params, EVENT_STREAM)).text(),
  'GET /graphql/stream': async (params) =>
    (await request('GET', `/graphql/stream?${inQuery(params)}`, undefined, EVENT_STREAM)).text(),
  'a reserved stream': async (params) => {
    const token = await (await request('PUT', '/graphql/stream')).text();
    const stream = await request('GET', `/graphql/stream?token=${token}`, undefined, EVENT_STREAM);
    const { extensions } = params as { extensions?: object };
    const operation = { ...params, extensions: { ...extensions, operationId: 'one' } };
    const reply = await request('POST', `/graphql/stream?token=${token}`, operation);
    if (reply.status !== 202) {
      await stream.body?.cancel();
      return reply.text();
    }
    let read = '';
    const decoder = new TextDecoder();
    for await (const chunk of stream.body ?? []) {
      read += decoder.decode(chunk, { stream: true });
      if (read.includes('event: complete')) break;
    }
    return read;
  },
};

test.each(Object.entries(WAYS))(
  'with GRAPHQL_TRUSTED_ONLY %s runs a trusted document and rejects all others',
  async (_, run) => {
    expect(await run({ extensions: persisted(hash) })).toContain('"groups":{"nodes":[]}');
    const refused = [
      await run({ query: OTHER }),
      await run({ query: EVENTS }),
      await run({ query: OTHER, extensions: persisted(hash) }),
      await run({ extensions: persisted('0'.repeat(64)) }),
    ];
    for (const answer of refused) {
      expect(answer).toMatch(/PersistedQuery(Only|NotFound)/);
      expect(answer).not.toMatch(/"(contacts|groups|eventRecorded)"/);
    }
  },
);

test('GRAPHQL_TRUSTED_ONLY does not affect /v1, whose documents are our own', async () => {
  expect((await api.post('/v1/contacts', { email: 'ada@example.com' })).status).toBe(201);
});
