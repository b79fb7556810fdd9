import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { createSmtpPool } from '../src/index.ts';
import type { SendOutcome } from '../src/index.ts';
import { EDGE_CASE_MESSAGES } from './edge-cases.ts';
import { ScriptedServer } from './scripted-server.ts';
import type { Act, Script, Stage } from './scripted-server.ts';

const message = (n: number, data: string | Uint8Array = `Subject: ${n}\r\n\r\nHello ${n}\r\n`) => ({
  from: 'bounce@example.com',
  to: `user${n}@example.com`,
  data,
});
const sendMany = (pool: ReturnType<typeof createSmtpPool>, count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => pool.send(message(n))));

test.each<[string, Script]>([
  ['pipelined', {}],
  ['in a session without pipelining', { offers: [] }],
  ['batched in one write', { offers: ['PIPELINING', 'CHUNKING'] }],
  ['by a server that knows no EHLO', { act: (stage) => (stage === 'ehlo' ? '502 what' : undefined) }],
  ['with replies byte by byte', { byteByByte: true }],
  [
    'with multi-line replies',
    { act: (stage) => (stage === 'mail' || stage === 'dot' ? '250-one\r\n250-two\r\n250 three' : undefined) },
  ],
])('200 messages over 4 connections arrive once each, %s', async (_, script) => {
  await using server = await ScriptedServer.start(script);
  const pool = createSmtpPool(server.url, { connections: 4 });
  const all = await sendMany(pool, 200);
  expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(['accepted']));
  const bodies = new Map(server.mails.map((mail) => [mail.to[0], mail.data]));
  expect(server.mails).toHaveLength(200);
  expect(bodies.size).toBe(200);
  for (let n = 0; n < 200; n++) expect(bodies.get(`user${n}@example.com`)).toBe(message(n).data);
  expect(server.connections).toBe(4);
  expect(pool.pending).toBe(0);
  await pool.close();
  await eventually(() => expect(server.open).toBe(0));
  expect(server.commands.filter((line) => line === 'QUIT')).toHaveLength(4);
});

test('without PIPELINING each command waits for the previous reply', async () => {
  await using plain = await ScriptedServer.start({ offers: ['8BITMIME'] });
  await using pipelined = await ScriptedServer.start();
  for (const server of [plain, pipelined]) {
    const pool = createSmtpPool(server.url, { connections: 1 });
    await sendMany(pool, 5);
    await pool.close();
  }
  expect([plain.mostPipelined, pipelined.mostPipelined]).toEqual([1, 3]);
});

test('data is preserved: dots, bare line endings, missing line endings, octets', async () => {
  await using server = await ScriptedServer.start();
  const pool = createSmtpPool(server.url, { connections: 1 });
  for (const [data] of EDGE_CASE_MESSAGES)
    expect(await pool.send(message(0, data))).toMatchObject({ kind: 'accepted' });
  expect(server.mails.map((mail) => mail.data)).toEqual(EDGE_CASE_MESSAGES.map(([, expected]) => expected));
  await pool.close();
});

test('a long message gets through to a server that reads slowly', async () => {
  await using server = await ScriptedServer.start({ slowly: true });
  const pool = createSmtpPool(server.url, { connections: 2 });
  const long = `Subject: x\r\n\r\n${`${'.x'.repeat(35)}\r\n`.repeat(60_000)}`;
  const all = await Promise.all([0, 1, 2, 3].map((n) => pool.send(message(n, long))));
  expect(all.map(({ kind }) => kind)).toEqual(Array(4).fill('accepted'));
  for (const mail of server.mails) expect(mail.data === long).toBe(true);
  await pool.close();
});

test('MAIL declares what the message needs and the server supports', async () => {
  await using server = await ScriptedServer.start({ offers: ['SIZE 200', '8BITMIME', 'SMTPUTF8'] });
  await using simple = await ScriptedServer.start({ offers: [] });
  const pool = createSmtpPool(server.url);
  const plain = createSmtpPool(simple.url);
  const send = (to: string, data: string) => pool.send({ from: '', to, data });
  await send('a@example.com', 'a\r\n');
  await send('a@müller.example', 'A: b\r\n\r\né\r\n');
  await send('jürgen@example.com', 'a\r\n');
  await send('a@example.com', 'Subject: é\r\n\r\na\r\n');
  expect(server.commands.filter((line) => /^(MAIL|RCPT)/.test(line))).toEqual([
    'MAIL FROM:<> SIZE=3',
    'RCPT TO:<a@example.com>',
    'MAIL FROM:<> SIZE=12 BODY=8BITMIME',
    'RCPT TO:<a@xn--mller-kva.example>',
    'MAIL FROM:<> SIZE=3 BODY=8BITMIME SMTPUTF8',
    `RCPT TO:<${Buffer.from('jürgen').toString('latin1')}@example.com>`,
    'MAIL FROM:<> SIZE=18 BODY=8BITMIME SMTPUTF8',
    'RCPT TO:<a@example.com>',
  ]);
  expect(await send('a@example.com', 'x'.repeat(300))).toMatchObject({ kind: 'refused', verdict: 'content' });
  const refused = { kind: 'refused', verdict: 'content' };
  expect(await plain.send({ from: '', to: 'jürgen@example.com', data: 'a' })).toMatchObject(refused);
  expect(await plain.send({ from: '', to: 'a@example.com', data: 'A: b\r\n\r\né' })).toMatchObject(refused);
  expect(await plain.send({ from: '', to: 'a@example.com', data: 'a' })).toMatchObject({ kind: 'accepted' });
  await Promise.all([pool.close(), plain.close()]);
});

test('an envelope that could inject a command is refused before it reaches a server', async () => {
  await using server = await ScriptedServer.start();
  const pool = createSmtpPool(server.url);
  const good = 'a@example.com';
  const bad = [
    'a@example.com>\r\nRCPT TO:<b@example.com',
    'a\0@example.com',
    'a@example.com\n',
    '<a@example.com>',
    'a b@c',
    '@',
  ];
  const envelopes = [
    ...bad.flatMap((one) => [
      { from: good, to: one },
      { from: one, to: good },
    ]),
    { from: good, to: '' },
  ];
  for (const envelope of envelopes) {
    expect(await pool.send({ ...envelope, data: 'x' }), JSON.stringify(envelope)).toMatchObject({ kind: 'refused' });
  }
  expect(server.connections).toBe(0);
});

test('a connection is replaced after its maximum number of messages', async () => {
  await using server = await ScriptedServer.start();
  const pool = createSmtpPool(server.url, { connections: 2, maxMessagesPerConnection: 10 });
  const all = await sendMany(pool, 95);
  expect(all.every(({ kind }) => kind === 'accepted')).toBe(true);
  expect(server.connections).toBeGreaterThanOrEqual(10);
  await pool.close();
});

test('an idle connection is closed after a while and reopened on demand', async () => {
  await using server = await ScriptedServer.start();
  const pool = createSmtpPool(server.url, { timeouts: { idleMs: 60 } });
  await pool.send(message(0));
  expect(pool.connections).toBe(1);
  await eventually(() => expect(server.open).toBe(0));
  expect(server.commands.at(-1)).toBe('QUIT');
  expect(await pool.send(message(1))).toMatchObject({ kind: 'accepted' });
  await pool.close();
});

test.each<[string, Script]>([
  ['pipelined', {}],
  ['without pipelining', { offers: [] }],
])('a server may close each connection after a message, %s', async (_, script) => {
  for (const act of [{ reply: '250 ok', after: 'end' }, '250 ok\r\n421 4.7.0 Max messages per connection'] as const) {
    await using server = await ScriptedServer.start({ ...script, act: (stage) => (stage === 'dot' ? act : undefined) });
    const pool = createSmtpPool(server.url, { connections: 2, reconnectDelaysMs: [10_000] });
    const all = await sendMany(pool, 30);
    expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(['accepted']));
    expect(server.mails.map(({ to }) => to[0]).toSorted()).toEqual(
      Array.from({ length: 30 }, (_each, n) => `user${n}@example.com`).toSorted(),
    );
    await pool.close();
  }
});

test('a message that a connection did not answer is deferred if the next one does not either', async () => {
  await using server = await ScriptedServer.start({
    act: (stage, nth) => (stage === 'mail' && nth > 0 ? { after: 'end' } : undefined),
  });
  const pool = createSmtpPool(server.url, { connections: 1, reconnectDelaysMs: [10_000] });
  expect(await sendMany(pool, 3)).toMatchObject([
    { kind: 'accepted' },
    { kind: 'deferred', answer: 'The server closed the connection' },
    { kind: 'deferred', answer: 'The server closed the connection' },
  ]);
  expect(server.connections).toBe(2);
  pool.abort();
});

test('a message that is no longer wanted is released while it waits for a connection, and not sent once there is one', async () => {
  await using silent = await ScriptedServer.start({ act: (stage) => (stage === 'greeting' ? {} : undefined) });
  const pool = createSmtpPool(silent.url, { connections: 1 });
  let isWanted = true;
  const waiting = [0, 1].map((n) => pool.send({ ...message(n), isWanted: () => isWanted }));
  await eventually(() => expect(silent.open).toBe(1));
  isWanted = false;
  const untried = { kind: 'deferred', scope: 'message', untried: true };
  expect(await Promise.all(waiting)).toMatchObject([untried, untried]);
  pool.abort();

  await using slow = await ScriptedServer.start();
  const other = createSmtpPool(slow.url, { connections: 1 });
  isWanted = true;
  const first = other.send({ ...message(0), isWanted: () => isWanted });
  const rest = [1, 2, 3].map((n) => other.send({ ...message(n), isWanted: () => n === 3 }));
  expect(await first).toMatchObject({ kind: 'accepted' });
  expect(await Promise.all(rest)).toMatchObject([untried, untried, { kind: 'accepted' }]);
  expect(slow.mails.map(({ to }) => to[0])).toEqual(['user0@example.com', 'user3@example.com']);
  await other.close();
});

test('a server whose replies are longer than any real one is not read further', async () => {
  const long = (code: number) => `${`${code}-${'x'.repeat(8_000)}\r\n`.repeat(10)}${code} ok`;
  await using server = await ScriptedServer.start({
    act: (stage, nth) => {
      if (stage === 'greeting' && nth === 0) return long(220);
      return stage === 'dot' ? long(550) : undefined;
    },
  });
  const pool = createSmtpPool(server.url, { connections: 1, reconnectDelaysMs: [1] });
  expect(await pool.send(message(0))).toMatchObject({
    kind: 'deferred',
    answer: 'The server sent something that is not an SMTP reply',
  });
  await eventually(async () =>
    expect(await pool.send(message(1))).toMatchObject({
      kind: 'refused',
      answer: expect.stringMatching(/^550 x{495}…$/),
    }),
  );
  await eventually(() => expect(server.open).toBe(0));
  await pool.close();
});

test('a timeout defers its message, however many the connection has sent before', async () => {
  await using server = await ScriptedServer.start({
    act: (stage, nth) => (stage === 'mail' && nth > 0 ? { after: 'silence' } : undefined),
  });
  const pool = createSmtpPool(server.url, { connections: 1, timeouts: { commandMs: 60 } });
  expect(await sendMany(pool, 2)).toMatchObject([
    { kind: 'accepted' },
    { kind: 'deferred', answer: 'Timed out waiting for a reply' },
  ]);
  expect(server.connections).toBe(1);
  pool.abort();
});

test('losing an idle connection loses no message', async () => {
  await using server = await ScriptedServer.start({
    act: (stage) => (stage === 'dot' ? '250 ok\r\n421 4.4.2 idle' : undefined),
  });
  const pool = createSmtpPool(server.url, { connections: 1 });
  for (let n = 0; n < 3; n++) {
    expect(await pool.send(message(n))).toMatchObject({ kind: 'accepted' });
    await eventually(() => expect(pool.connections).toBe(0));
  }
  await pool.close();
});

test('an unreachable server defers messages and is not retried during the backoff', async () => {
  const server = await ScriptedServer.start();
  const { port, url } = server;
  await server[Symbol.asyncDispose]();
  const patient = createSmtpPool(url, { reconnectDelaysMs: [60_000] });
  const quick = createSmtpPool(url, { reconnectDelaysMs: [50] });
  for (const pool of [patient, quick]) {
    const first = await sendMany(pool, 20);
    expect(new Set(first.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
    expect(first[0]).toMatchObject({ kind: 'deferred', scope: 'host', waitMs: expect.any(Number) });
    expect(first[0]!.answer).toContain('ECONNREFUSED');
  }
  // The server is back, but only a connection attempt would reveal it.
  let connections = 0;
  await using again = createServer((socket) => void (connections++, socket.destroy())).listen(port, '127.0.0.1');
  await once(again, 'listening');
  expect(await patient.send(message(0))).toMatchObject({ kind: 'deferred', scope: 'host' });
  expect(connections).toBe(0);
  await eventually(async () => {
    expect(await quick.send(message(0))).toMatchObject({ kind: 'deferred', scope: 'host' });
    expect(connections).toBe(1);
  });
  await Promise.all([patient.close(), quick.close()]);
});

test.each<[string, (up: boolean, stage: Stage) => Act | string | undefined]>([
  ['refuses connections', (up, stage) => (stage === 'greeting' && !up ? '554 no' : undefined)],
  ['accepts connections and drops them', (up, stage) => (stage === 'mail' && !up ? { after: 'end' } : undefined)],
])('waits for a server that %s grow, and are reset by a success', async (_, act) => {
  let up = false;
  await using server = await ScriptedServer.start({
    // Each success closes its connection, so the next message needs a new one.
    act: (stage) => act(up, stage) ?? (stage === 'dot' ? { reply: '250 ok', after: 'end' } : undefined),
  });
  const pool = createSmtpPool(server.url, { connections: 1, reconnectDelaysMs: [20, 60, 100] });
  const waits: number[] = [];
  for (let round = 0; round < 7; round++) {
    up = round === 4;
    const outcome = await pool.send(message(0));
    const waitMs = outcome.kind === 'deferred' ? (outcome.waitMs ?? -1) : 0;
    waits.push(Math.ceil(waitMs / 20) * 20);
    await sleep(waitMs + 2);
    await eventually(() => expect(up ? pool.connections : 0).toBe(0));
  }
  expect(waits).toEqual([20, 60, 100, 100, 0, 20, 60]);
  await pool.close();
});

test.each([
  ['421 4.7.0 too many connections', 300_000],
  ['554 5.7.1 go away', 1],
])('a greeting of %j defers all that waits', async (greeting, waitMs) => {
  await using server = await ScriptedServer.start({ act: (stage) => (stage === 'greeting' ? greeting : undefined) });
  const pool = createSmtpPool(server.url, { reconnectDelaysMs: [1] });
  const all = await sendMany(pool, 3);
  for (const outcome of all) expect(outcome).toMatchObject({ kind: 'deferred', scope: 'host', answer: greeting });
  expect((all[0] as { waitMs: number }).waitMs).toBeGreaterThanOrEqual(waitMs - 1);
  await pool.close();
});

test('a hostname that does not resolve defers messages', async () => {
  const pool = createSmtpPool('smtp://does-not-exist.invalid');
  expect(await pool.send(message(0))).toMatchObject({
    kind: 'deferred',
    scope: 'host',
    answer: expect.stringContaining('does-not-exist'),
  });
  await pool.close();
});

test('if the server limits connections, the allowed ones carry all messages', async () => {
  await using server = await ScriptedServer.start({
    act: (stage, nth) => (stage === 'greeting' && nth >= 2 ? '421 too many connections' : undefined),
  });
  const pool = createSmtpPool(server.url, { connections: 8 });
  const all = await sendMany(pool, 100);
  expect(all.every(({ kind }) => kind === 'accepted')).toBe(true);
  await pool.close();
});

test('close drains the pool, sends QUIT and rejects new messages', async () => {
  await using server = await ScriptedServer.start();
  const pool = createSmtpPool(server.url, { connections: 2 });
  const sending = sendMany(pool, 50);
  const closing = pool.close();
  expect(await pool.send(message(99))).toMatchObject({ kind: 'deferred', answer: 'The connection pool is closed' });
  await closing;
  expect((await sending).every(({ kind }) => kind === 'accepted')).toBe(true);
  expect(pool.connections).toBe(0);
  await createSmtpPool(server.url).close();
});

test('close does not wait forever for the reply to QUIT', async () => {
  await using server = await ScriptedServer.start({
    act: (stage) => (stage === 'quit' ? { after: 'silence' } : undefined),
  });
  const pool = createSmtpPool(server.url, { timeouts: { quitMs: 50 } });
  await pool.send(message(0));
  await pool.close();
  expect(pool.connections).toBe(0);
});

test.each(['abort', 'signal'])('%s settles each message according to its state', async (how) => {
  await using server = await ScriptedServer.start({
    act: (stage) => (stage === 'dot' ? { after: 'silence' } : undefined),
  });
  const abort = new AbortController();
  const pool = createSmtpPool(server.url, { connections: 1, signal: abort.signal });
  const sending = sendMany(pool, 4);
  await eventually(() => expect(server.mails).toHaveLength(1));
  if (how === 'abort') pool.abort();
  else abort.abort();
  expect((await sending).map(({ kind }) => kind)).toEqual(['unknown', 'deferred', 'deferred', 'deferred']);
  expect(await pool.send(message(0))).toMatchObject({ kind: 'deferred' });
  await Promise.all([pool.idle(), pool.close()]);
});

test('under random disconnects, no message that a server may have accepted is sent again', async () => {
  let seed = 5;
  const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
  const replies = ['250 ok', '250 ok', '250 ok', '450 4.2.0 later', '550 5.1.1 no such user', '421 4.3.2 bye'];
  for (const offers of [['PIPELINING'], ['PIPELINING', 'CHUNKING'], []]) {
    await using server = await ScriptedServer.start({
      offers,
      act: (stage) => {
        const dice = random(200);
        if (dice < 3) return { after: dice === 0 ? 'end' : 'reset' };
        if (dice < 5) return { raw: '25', after: 'reset' };
        if ((stage === 'rcpt' || stage === 'dot') && dice < 40) return replies[random(replies.length)];
        return stage === 'dot' ? '250 ok' : undefined;
      },
    });
    const pool = createSmtpPool(server.url, { connections: 5, maxMessagesPerConnection: 7, reconnectDelaysMs: [1] });
    const last = new Map<number, SendOutcome>();
    let open = Array.from({ length: 1000 }, (_, n) => n);
    while (open.length > 0) {
      const all = await Promise.all(open.map((n) => pool.send(message(n))));
      all.forEach((outcome, i) => last.set(open[i]!, outcome));
      open = open.filter((_, i) => all[i]!.kind === 'deferred');
    }
    expect(last.size).toBe(1000);
    for (const [n, { kind }] of last) {
      const arrivals = server.mails.filter((mail) => mail.to[0] === `user${n}@example.com`);
      // The reply was lost, so the server may have kept the message.
      const kept = arrivals.filter(({ answer }) => answer === undefined || answer.startsWith('250'));
      expect(kept.length, `copies of ${n}, which is ${kind}`).toBeLessThanOrEqual(1);
      const answers = kept.map(({ answer }) => answer);
      expect(answers, `the answer to ${n}`).toEqual(
        kind === 'accepted' ? ['250 ok'] : kind === 'refused' ? [] : answers,
      );
    }
    const count = (wanted: string) => [...last.values()].filter(({ kind }) => kind === wanted).length;
    expect(count('accepted')).toBeGreaterThan(500);
    expect(count('unknown')).toBeGreaterThan(0);
    await pool.close();
  }
});
