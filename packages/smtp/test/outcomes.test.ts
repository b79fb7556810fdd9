import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createSmtpPool } from '../src/index.ts';
import type { SmtpPoolOptions, SendOutcome } from '../src/index.ts';
import { ScriptedServer } from './scripted-server.ts';
import type { Act, Script, Stage } from './scripted-server.ts';

const PLAIN = ['8BITMIME', 'SIZE 50000000'];
const message = (n: number, data: string | Uint8Array = `Subject: ${n}\r\n\r\nHello\r\n`) => ({
  from: 'bounce@example.com',
  to: `user${n}@example.com`,
  data,
});

/** Sends messages over a single connection and returns their outcomes. */
async function outcomes(script: Script, count: number, options: SmtpPoolOptions = {}, data?: string) {
  await using server = await ScriptedServer.start(script);
  const pool = createSmtpPool(server.url, { connections: 1, reconnectDelaysMs: [1], ...options });
  const all = await Promise.all(Array.from({ length: count }, (_, n) => pool.send(message(n, data))));
  pool.abort();
  return { all, mails: server.mails.map((mail) => mail.to[0]) };
}

const at =
  (stage: Stage, act: Act | string, nth = 0): Script['act'] =>
  (s, n) =>
    s === stage && n === nth ? act : undefined;

describe.each([
  ['with PIPELINING', undefined],
  ['without PIPELINING', PLAIN],
])('%s', (_, offers) => {
  const one = async (
    stage: Stage,
    act: Act | string,
    data?: string,
    options?: SmtpPoolOptions,
  ): Promise<SendOutcome> => {
    const script: Script = { act: at(stage, act), ...(offers && { offers }) };
    const { all } = await outcomes(script, 1, options, data);
    return all[0]!;
  };
  const LONG = `Subject: x\r\n\r\n${`${'x'.repeat(70)}\r\n`.repeat(250_000)}`;

  const earlier: Stage[] = ['greeting', 'ehlo', 'mail', 'rcpt', 'data'];
  test.each(earlier.flatMap((stage) => [[stage, 'end'] as const, [stage, 'reset'] as const]))(
    'a connection that breaks at %s (%s) defers the message',
    async (stage, after) => {
      expect(await one(stage, { after })).toMatchObject({
        kind: 'deferred',
        scope: 'host',
        waitMs: expect.any(Number),
      });
      expect(await one(stage, { raw: '25', after })).toMatchObject({ kind: 'deferred', scope: 'host' });
    },
  );

  test.each(['end', 'reset'] as const)(
    'a connection that breaks in the middle of a long body (%s) defers it',
    async (after) => {
      expect(await one('body', { after }, LONG)).toMatchObject({ kind: 'deferred', scope: 'host' });
    },
  );

  test.each(['end', 'reset'] as const)(
    'after the final dot, without a complete reply (%s), the outcome is unknown',
    async (after) => {
      expect(await one('dot', { after })).toMatchObject({ kind: 'unknown', answer: expect.stringMatching(/\w/) });
      expect(await one('dot', { raw: '2', after })).toMatchObject({ kind: 'unknown' });
      expect(await one('dot', { raw: '250 2.0.0 queued', after })).toMatchObject({ kind: 'unknown' });
      expect(await one('dot', { raw: '250-2.0.0 queued\r\n', after })).toMatchObject({ kind: 'unknown' });
      expect(await one('dot', { raw: '550 5.7.1 spa', after })).toMatchObject({ kind: 'unknown' });
    },
  );

  test('a non-SMTP reply to the final dot leaves the message unknown', async () => {
    for (const reply of ['OK', 'HTTP/1.1 400 Bad Request', '999 what', '354 go ahead', '25O ok']) {
      expect(await one('dot', reply)).toMatchObject({ kind: 'unknown' });
    }
  });

  test('a refusal counts from its first complete line, even if the connection then breaks', async () => {
    const act: Act = { raw: '550-5.7.1 our system\r\n550-5.7.1 refu', after: 'reset' };
    expect(await one('dot', act)).toMatchObject({ kind: 'refused', verdict: 'policy', answer: '550 5.7.1 our system' });
  });

  test('421 as the final reply defers the message', async () => {
    const act: Act = { reply: '421 4.3.2 shutting down', after: 'end' };
    const known = { kind: 'deferred', scope: 'host', answer: '421 4.3.2 shutting down' };
    expect(await one('dot', act)).toMatchObject(known);
  });

  test('complete replies determine the outcome at every stage', async () => {
    expect(await one('dot', '250 2.0.0 ok 7f')).toEqual({ kind: 'accepted', answer: '250 2.0.0 ok 7f' });
    expect(await one('dot', '250-2.0.0 ok\r\n250 2.0.0 id 7f')).toMatchObject({ answer: '250 2.0.0 ok id 7f' });
    expect(await one('dot', '451 4.3.0 busy')).toMatchObject({ kind: 'deferred', scope: 'message' });
    expect(await one('dot', '554 5.6.0 bad')).toMatchObject({ kind: 'refused', verdict: 'content' });
    expect(await one('mail', '550 5.7.1 blocked')).toMatchObject({ kind: 'refused', verdict: 'policy' });
    expect(await one('mail', '451 4.7.1 later')).toMatchObject({ kind: 'deferred', scope: 'host' });
    expect(await one('rcpt', '550 5.1.1 no such user')).toMatchObject({ kind: 'refused', verdict: 'hard_bounce' });
    expect(await one('rcpt', '450 4.2.0 greylisted')).toMatchObject({
      kind: 'deferred',
      scope: 'message',
      waitMs: 600_000,
    });
    expect(await one('data', '451 4.3.0 busy')).toMatchObject({ kind: 'deferred', scope: 'message' });
    expect(await one('data', '554 5.7.1 no')).toMatchObject({ kind: 'refused', verdict: 'policy' });
    expect(await one('data', '250 what')).toMatchObject({ kind: 'deferred' });
    expect(await one('mail', '354 what')).toMatchObject({ kind: 'deferred' });
    for (const stage of ['mail', 'rcpt', 'data'] as const) {
      const act: Act = { reply: '421 4.3.2 closing', after: 'end' };
      expect(await one(stage, act)).toMatchObject({ kind: 'deferred', scope: 'host', answer: '421 4.3.2 closing' });
    }
  });

  test('a silent server times out', async () => {
    const options = { timeouts: { greetingMs: 60, commandMs: 60, dataMs: 60 } };
    for (const stage of ['greeting', 'ehlo', 'mail', 'rcpt', 'data'] as const) {
      expect(await one(stage, { after: 'silence' }, undefined, options)).toMatchObject({
        kind: 'deferred',
        scope: 'host',
      });
    }
    const last = { timeouts: { finalMs: 120 } };
    expect(await one('dot', { after: 'silence' }, undefined, last)).toMatchObject({ kind: 'unknown' });
  });

  test('a server that stops reading times out before the final dot is sent', async () => {
    const options = { timeouts: { blockMs: 150 } };
    expect(await one('body', { after: 'stop reading' }, LONG, options)).toMatchObject({ kind: 'deferred' });
  });

  test('a refusal during the body is final, since the dot was never sent', async () => {
    const act: Act = { reply: '552 5.3.4 too big', after: 'stop reading' };
    expect(await one('body', act, LONG)).toMatchObject({ kind: 'refused', verdict: 'content' });
  });

  test('a refused message does not hold up the next one', async () => {
    const script: Script = {
      ...(offers && { offers }),
      act: (stage, nth) => (stage === 'rcpt' && nth % 2 === 0 ? '550 5.1.1 no such user' : undefined),
    };
    const { all, mails } = await outcomes(script, 6);
    expect(all.map(({ kind }) => kind)).toEqual(['refused', 'accepted', 'refused', 'accepted', 'refused', 'accepted']);
    expect(mails).toEqual(['user1@example.com', 'user3@example.com', 'user5@example.com']);
  });
});

test('a lost connection makes the message after its dot unknown and defers the next one in the same write', async () => {
  const { all, mails } = await outcomes({ act: at('dot', { after: 'reset' }) }, 2, { reconnectDelaysMs: [10_000] });
  expect(all).toMatchObject([{ kind: 'unknown' }, { kind: 'deferred', scope: 'host' }]);
  expect(mails).toEqual(['user0@example.com']);
});

test('421 to the final dot also defers the next message, with the same reply', async () => {
  const act: Act = { reply: '421 4.3.2 bye', after: 'end' };
  const { all } = await outcomes({ act: at('dot', act, 1) }, 3, { reconnectDelaysMs: [10_000] });
  expect(all).toMatchObject([
    { kind: 'accepted' },
    { kind: 'deferred', answer: '421 4.3.2 bye' },
    { kind: 'deferred', answer: '421 4.3.2 bye', scope: 'host' },
  ]);
});

test('354 without a recipient gets a lone dot, whose reply is ignored', async () => {
  await using server = await ScriptedServer.start({
    act: (stage, nth) => (stage === 'rcpt' && nth === 1 ? '550 5.1.1 no such user' : undefined),
  });
  const pool = createSmtpPool(server.url, { connections: 1 });
  const all = await Promise.all([0, 1, 2].map((n) => pool.send(message(n))));
  expect(all.map(({ kind }) => kind)).toEqual(['accepted', 'refused', 'accepted']);
  expect(server.mails.map((mail) => mail.to)).toEqual([['user0@example.com'], ['user2@example.com']]);
  expect(server.connections).toBe(1);
  await pool.close();
});

test('a transaction left open by a refusal is reset before the next one', async () => {
  await using server = await ScriptedServer.start({
    act: (stage, nth) => {
      if (stage === 'rcpt' && nth === 0) return '550 5.1.1 no such user';
      return stage === 'data' && nth === 0 ? '503 5.5.1 no valid recipients' : undefined;
    },
  });
  const pool = createSmtpPool(server.url, { connections: 1 });
  const all = await Promise.all([0, 1].map((n) => pool.send(message(n))));
  expect(all.map(({ kind }) => kind)).toEqual(['refused', 'accepted']);
  expect(server.commands.slice(1).map((line) => line.split(/[ :]/, 1)[0])).toEqual(
    'MAIL RCPT DATA RSET MAIL RCPT DATA'.split(' '),
  );
  await pool.close();
});

test('the pool never retries a message', async () => {
  await using server = await ScriptedServer.start({
    act: (stage) => (stage === 'dot' ? { after: 'reset' } : undefined),
  });
  const pool = createSmtpPool(server.url, { connections: 1, reconnectDelaysMs: [1] });
  await pool.send(message(0));
  await sleep(100);
  expect(server.mails).toHaveLength(1);
  await pool.close();
});
