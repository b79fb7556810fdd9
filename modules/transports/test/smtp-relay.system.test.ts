import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId, secretColumn, selfSigned } from '@postroom/platform';
import { eventually, startSystem, type System, type SystemApi } from '@postroom/testkit';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ScriptedServer, type Script } from '@postroom/smtp/testing';

const trusted = selfSigned('rsa');
let system: System;

beforeAll(async () => {
  const ca = join(mkdtempSync(join(tmpdir(), 'postroom-ca-')), 'ca.pem');
  writeFileSync(ca, trusted.cert);
  system = await startSystem({ smtpUrl: 'smtp://127.0.0.1:1', env: { NODE_EXTRA_CA_CERTS: ca } });
  await system.startWorker();
}, 120_000);
afterAll(() => system.stop());

interface Taken {
  to: string;
  user: unknown;
  secure: boolean;
}

/** A third-party mail server: it accepts mail only over TLS, from clients with the password. */
async function relay({ implicit = false, methods = ['PLAIN', 'LOGIN'], certificate = trusted } = {}) {
  const mails: Taken[] = [];
  let tries = 0;
  const server = new SMTPServer({
    ...certificate,
    secure: implicit,
    authMethods: methods,
    logger: false,
    disableReverseLookup: true,
    closeTimeout: 1, // who is still connected is not waited for
    onAuth: ({ username, password }, _session, callback) => {
      tries++;
      if (username === 'postroom' && password === 'right: päss') callback(null, { user: username });
      else callback(Object.assign(new Error('5.7.8 Authentication credentials invalid'), { responseCode: 535 }));
    },
    onData: (stream, { envelope, user, secure }, callback) => {
      stream.resume();
      stream.on('end', () => {
        mails.push({ to: envelope.rcptTo[0]?.address ?? '', user, secure });
        callback();
      });
    },
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  return {
    port,
    mails,
    tries: () => tries,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

const secretOf = (id: string, password: string) =>
  secretColumn('mail_providers', 'credentials').encrypt(JSON.stringify({ user: 'postroom', password }), id);

/** Adds a relay as `createMailProvider` does, without a signed-in user. */
async function provider(
  { projectId }: SystemApi,
  port: number,
  { tls = 'starttls', password = 'right: päss', position = 1 } = {},
): Promise<string> {
  const id = newId('prv');
  const credentials = tls === 'optional' ? null : secretOf(id, password);
  await system.pool.query(
    `INSERT INTO mail_providers (id, project_id, position, name, kind, settings, credentials, token, updated_at)
     VALUES ($1, $2, $3, 'Relay', 'smtp', $4, $5, $1, now())`,
    [id, projectId, position, { host: '127.0.0.1', port, tls, connections: 2 }, credentials],
  );
  return id;
}

const send = async (api: SystemApi, to: string): Promise<string> =>
  (await api.post('/v1/emails', { from: 'hello@example.com', to: [to], subject: 'Hello', text: 'Hello' })).body.data.id;

const untilStatus = (api: SystemApi, id: string, status: string) =>
  eventually(async () => expect((await api.get(`/v1/emails/${id}`)).body.data.status).toBe(status), 60_000);

const untilProvider = (id: string, expected: object) =>
  eventually(async () => {
    const { rows } = await system.pool.query(
      'SELECT status, status_reason AS reason FROM mail_providers WHERE id = $1',
      [id],
    );
    expect(rows[0]).toMatchObject(expected);
  }, 30_000);

const WORKING = { status: 'working', reason: null };

test.each([
  ['STARTTLS and AUTH PLAIN', 'starttls', 'PLAIN'],
  ['STARTTLS and AUTH LOGIN', 'starttls', 'LOGIN'],
  ['TLS from the first byte', 'implicit', 'PLAIN'],
])(
  'an email goes out by a relay over %s, signed in, and the provider is working',
  async (_what, tls, method) => {
    const api = await system.api();
    await using server = await relay({ implicit: tls === 'implicit', methods: [method] });
    const id = await provider(api, server.port, { tls });
    const email = await send(api, 'ada@mail.test');
    await untilStatus(api, email, 'sent');
    expect(server.mails).toEqual([{ to: 'ada@mail.test', user: 'postroom', secure: true }]);
    await untilProvider(id, WORKING);
  },
  90_000,
);

test('a wrong password is said on the provider, and mail waits until the right one is given', async () => {
  const api = await system.api();
  await using server = await relay();
  const id = await provider(api, server.port, { password: 'wrong' });
  const emails = [await send(api, 'ada@mail.test'), await send(api, 'grace@mail.test')];
  await untilProvider(id, { status: 'failing', reason: '535 5.7.8 Authentication credentials invalid' });
  for (const email of emails) {
    expect((await api.get(`/v1/emails/${email}`)).body.data.status).toBe('queued');
  }
  expect((await api.get('/v1/suppressions')).body.data).toEqual([]);
  await system.pool.query('UPDATE mail_providers SET credentials = $2, revision = revision + 1 WHERE id = $1', [
    id,
    secretOf(id, 'right: päss'),
  ]);
  for (const email of emails) await untilStatus(api, email, 'sent');
  expect(server.mails.map(({ to }) => to).sort()).toEqual(['ada@mail.test', 'grace@mail.test']);
  await untilProvider(id, WORKING);
  const { rows } = await system.pool.query(`SELECT type FROM events WHERE project_id = $1 AND type = 'email.failed'`, [
    api.projectId,
  ]);
  expect(rows).toEqual([]);
}, 120_000);

test.each([
  ['that nobody vouches for', selfSigned('rsa'), /certificate is not trusted/],
  ['that has run out', selfSigned('rsa', [-3, -1]), /certificate (is not trusted|has expired)/],
])(
  'a certificate %s is said on the provider, no password is shown, and mail waits',
  async (_what, certificate, reason) => {
    const api = await system.api();
    await using server = await relay({ certificate });
    const id = await provider(api, server.port);
    const email = await send(api, 'ada@mail.test');
    await untilProvider(id, { status: 'failing', reason: expect.stringMatching(reason) });
    expect(server.tries()).toBe(0);
    expect((await api.get(`/v1/emails/${email}`)).body.data.status).toBe('queued');
  },
  90_000,
);

/** A project with two relays that count messages received up to the final dot. */
async function twoWays(script: Script) {
  const api = await system.api();
  const [first, second] = [await ScriptedServer.start(script), await ScriptedServer.start()];
  await provider(api, first.port, { tls: 'optional', position: 1 });
  await provider(api, second.port, { tls: 'optional', position: 2 });
  const times = (to: string) =>
    [first, second].flatMap(({ mails }) => mails).filter((mail) => mail.to.includes(to)).length;
  return { api, first, second, times };
}

test.each([
  ['dot', 1],
  ['rcpt', 0],
] as const)(
  'kill -9 of the worker while the first transport has a message at %s: the second never gets it, and no recipient gets it twice',
  async (stage, received) => {
    const { api, first, second, times } = await twoWays({
      act: (at, nth) => (at === stage && nth === 0 ? { after: 'silence' } : undefined),
    });
    const email = await send(api, 'held@mail.test');
    await eventually(() => {
      expect(first.commands.some((line) => line.startsWith('RCPT'))).toBe(true);
      expect(times('held@mail.test')).toBe(received);
    }, 30_000);
    await system.killWorker();
    await system.startWorker();
    // What was in flight is unknown, even if the server had received all of it.
    await untilStatus(api, email, 'unknown');
    const later = await send(api, 'later@mail.test');
    await untilStatus(api, later, 'sent');
    expect(times('held@mail.test')).toBe(received);
    expect(second.mails.filter(({ to }) => to.includes('held@mail.test'))).toEqual([]);
    await Promise.all([first, second].map((server) => server[Symbol.asyncDispose]()));
  },
  120_000,
);

test('over two transports whose connections keep breaking, no message is sent twice or lost', async () => {
  const stages = new Set(['greeting', 'ehlo', 'mail', 'rcpt', 'data', 'body', 'dot']);
  const breaking: Script = {
    act: (stage, nth) => (stages.has(stage) && nth % 5 === 2 ? { after: nth % 2 === 0 ? 'reset' : 'end' } : undefined),
  };
  const { api, first, second, times } = await twoWays(breaking);
  const addresses = Array.from({ length: 60 }, (_, index) => `break${index}@mail.test`);
  const emails = addresses.map((to) => ({ from: 'hello@example.com', to: [to], subject: 'Hello', text: 'Hello' }));
  expect((await api.post('/v1/emails/batch', { emails })).status).toBe(202);
  const { rows } = await eventually(async () => {
    const found = await system.pool.query<{ email: string; state: string }>(
      'SELECT email, state FROM messages WHERE project_id = $1',
      [api.projectId],
    );
    expect(found.rows.every(({ state }) => state === 'accepted' || state === 'unknown')).toBe(true);
    return found;
  }, 100_000);
  expect(rows).toHaveLength(60);
  const wrong = rows.filter(({ email, state }) => times(email) > 1 || (state === 'accepted' && times(email) !== 1));
  expect(wrong).toEqual([]);
  await Promise.all([first, second].map((server) => server[Symbol.asyncDispose]()));
}, 120_000);
