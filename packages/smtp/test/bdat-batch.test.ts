import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { createSmtpPool } from '../src/index.ts';
import type { SmtpPoolOptions, SendOutcome, SmtpPool } from '../src/index.ts';
import { EDGE_CASE_MESSAGES } from './edge-cases.ts';
import { ScriptedServer } from './scripted-server.ts';
import type { Act, Script, Stage } from './scripted-server.ts';

const OFFERS = ['PIPELINING', 'CHUNKING', '8BITMIME', 'SMTPUTF8', 'SIZE 50000000'];
/** No reply takes longer, so batches grow on a busy machine too. */
const FAST_MS = 60_000;
const message = (n: number, data: string | Uint8Array = `Subject: ${n}\r\n\r\nHello ${n}\r\n`) => ({
  from: `bounce+${n}@example.com`,
  to: `user${n}@example.com`,
  data,
});
const send = (pool: SmtpPool, from: number, count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => pool.send(message(from + n))));
const kinds = (outcomes: SendOutcome[]) => outcomes.map(({ kind }) => kind).join(' ');

/** A server and a pool of one connection that will send the next messages in batches of eight. */
async function warm(act: (stage: Stage, to: string) => Act | string | undefined, options: SmtpPoolOptions = {}) {
  let to = '';
  const script: Script = {
    offers: OFFERS,
    strict: true,
    act: (stage, _nth, line) => {
      to = /^(?:MAIL|RCPT).*?(\d+)@/.exec(line)?.[1] ?? to;
      return act(stage, to);
    },
  };
  const server = await ScriptedServer.start(script);
  const pool = createSmtpPool(server.url, {
    connections: 1,
    reconnectDelaysMs: [10_000],
    fastReplyMs: FAST_MS,
    ...options,
  });
  expect(new Set((await send(pool, 0, 20)).map(({ kind }) => kind))).toEqual(new Set(['accepted']));
  return {
    server,
    pool,
    [Symbol.asyncDispose]: async () => {
      pool.abort();
      await server[Symbol.asyncDispose]();
    },
  };
}

const at =
  (stage: Stage, to: string, act: Act | string) =>
  (s: Stage, t: string): Act | string | undefined =>
    s === stage && t === to ? act : undefined;

test('the first message uses DATA; once accepted, later messages are batched in one write, separated by RSET', async () => {
  await using server = await ScriptedServer.start({ offers: OFFERS, strict: true });
  const pool = createSmtpPool(server.url, { connections: 1, fastReplyMs: FAST_MS });
  await send(pool, 0, 40);
  const verbs = server.commands.map((line) => line.split(/[ :]/, 1)[0]);
  expect(verbs.slice(0, 12).join(' ')).toBe('EHLO MAIL RCPT DATA MAIL RCPT DATA MAIL RCPT BDAT RSET MAIL');
  expect(verbs.filter((verb) => verb === 'BDAT')).toHaveLength(38);
  expect(verbs).not.toContain('503');
  expect(server.mails.map(({ from, to, data }) => [from, to, data])).toEqual(
    Array.from({ length: 40 }, (_, n) => [`bounce+${n}@example.com`, [`user${n}@example.com`], message(n).data]),
  );
  await pool.close();
});

test('BDAT preserves data: dots, bare line endings, octets', async () => {
  await using it = await warm(() => undefined);
  const before = it.server.commands.length;
  await Promise.all([
    ...EDGE_CASE_MESSAGES.map(([data]) => it.pool.send(message(0, data))),
    ...[1, 2, 3].map((n) => it.pool.send(message(n))),
  ]);
  expect(it.server.mails.slice(20, 20 + EDGE_CASE_MESSAGES.length).map(({ data }) => data)).toEqual(
    EDGE_CASE_MESSAGES.map(([, data]) => data),
  );
  expect(it.server.commands.slice(before).filter((line) => line.startsWith('BDAT')).length).toBeGreaterThan(
    EDGE_CASE_MESSAGES.length - 3,
  );
});

/** After `warm` idles, messages 20 and 21 go one by one, 22 to 25 in a batch, and 26 to 33 in the next. */
const AFTER_REST = 14;

test.each<[Stage, string]>([
  ['mail', '550 5.7.1 not from you'],
  ['rcpt', '550 5.1.1 no such user'],
  ['dot', '554 5.6.0 not that'],
])('a refusal of one at %s is of that one, and the others are taken with their own senders', async (stage, reply) => {
  await using it = await warm(at(stage, '23', reply));
  const outcomes = await send(it.pool, 20, AFTER_REST);
  expect(outcomes[3]).toMatchObject({ kind: 'refused', answer: reply });
  expect(outcomes.filter(({ kind }) => kind === 'accepted')).toHaveLength(AFTER_REST - 1);
  const taken = it.server.mails.filter(({ answer }) => answer?.startsWith('250'));
  for (const { from, to } of taken) expect(to).toEqual([from.replace('bounce+', 'user')]);
  expect(new Set(taken.map(({ from }) => from)).size).toBe(20 + AFTER_REST - 1);
});

test.each(['end', 'reset'] as const)(
  'a break in a window (%s) leaves its unanswered messages unknown; what was not written goes by another connection',
  async (after) => {
    for (const stage of ['mail', 'rcpt', 'body', 'dot'] as const) {
      await using it = await warm(at(stage, '23', { after }));
      const outcomes = await send(it.pool, 20, AFTER_REST);
      expect(kinds(outcomes), stage).toBe(
        `${'accepted '.repeat(3)}${'unknown '.repeat(3)}${'accepted '.repeat(8)}`.trim(),
      );
    }
  },
);

test('421 ends a batch: that message and the following ones are deferred', async () => {
  for (const stage of ['mail', 'rcpt', 'dot'] as const) {
    const reply = '421 4.7.0 too many messages';
    await using it = await warm(at(stage, '23', { reply, after: 'end' }));
    const outcomes = await send(it.pool, 20, AFTER_REST);
    expect(kinds(outcomes), stage).toBe(
      `${'accepted '.repeat(3)}${'deferred '.repeat(3)}${'accepted '.repeat(8)}`.trim(),
    );
    expect(outcomes.slice(3, 6)).toEqual(Array(3).fill(expect.objectContaining({ scope: 'host', answer: reply })));
  }
});

test('replies after a 421 count if the server continues', async () => {
  await using it = await warm(at('rcpt', '23', '421 4.7.0 not now'));
  const outcomes = await send(it.pool, 20, 6);
  expect(kinds(outcomes)).toBe(`${'accepted '.repeat(3)}deferred accepted accepted`);
  expect(it.server.mails.filter(({ to }) => to[0] === 'user23@example.com')).toEqual([]);
});

test('a non-SMTP reply or a timeout leaves a batch unknown', async () => {
  for (const act of ['what', '354 go on', { after: 'silence' }] as const) {
    await using it = await warm(at('dot', '23', act), { timeouts: { finalMs: 1_000 } });
    const outcomes = await send(it.pool, 20, 6);
    expect(kinds(outcomes)).toBe(`${'accepted '.repeat(3)}unknown unknown unknown`);
  }
});

test('the first message after an idle period uses DATA, so a connection closed meanwhile leaves nothing unknown', async () => {
  let isClosed = false;
  await using it = await warm((stage, to) => {
    if (stage !== 'mail' || to !== '20' || isClosed) return undefined;
    isClosed = true;
    return { after: 'reset' };
  });
  const [outcome] = await send(it.pool, 20, 1);
  expect(outcome).toMatchObject({ kind: 'accepted' });
  expect([isClosed, it.server.connections]).toEqual([true, 2]);
});

test('a batch continues on another connection if the server takes no more messages on this one', async () => {
  let isClosed = false;
  await using it = await warm((stage, to) => {
    if (stage !== 'mail' || to !== '23' || isClosed) return undefined;
    isClosed = true;
    return { reply: '421 4.7.0 Maximum messages per connection', after: 'end' };
  });
  expect(new Set((await send(it.pool, 20, 8)).map(({ kind }) => kind))).toEqual(new Set(['accepted']));
  const received = it.server.mails.slice(20).map(({ to }) => to[0]);
  expect(received).toEqual(Array.from({ length: 8 }, (_, n) => `user${20 + n}@example.com`));
  expect(it.server.connections).toBe(2);
});

test('a slow server is sent one message at a time', async () => {
  await using server = await ScriptedServer.start({ offers: OFFERS, strict: true });
  const pool = createSmtpPool(server.url, { connections: 1, fastReplyMs: 0 });
  await send(pool, 0, 20);
  expect(server.mails).toHaveLength(20);
  expect(server.commands.filter((line) => line.startsWith('BDAT'))).toEqual([]);
  await pool.close();
});

test('a long message uses DATA in its turn, and the messages around it are batched', async () => {
  await using it = await warm(() => undefined);
  const long = `Subject: x\r\n\r\n${`${'x'.repeat(70)}\r\n`.repeat(2_000)}`;
  const before = it.server.commands.length;
  const outcomes = await Promise.all(
    Array.from({ length: 30 }, (_, n) => it.pool.send(n === 15 ? message(n, long) : message(n))),
  );
  expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['accepted']));
  expect(it.server.mails.slice(20).map(({ to }) => to[0])).toEqual(outcomes.map((_, n) => `user${n}@example.com`));
  expect(it.server.mails[35]?.data === long).toBe(true);
  const verbs = it.server.commands.slice(before).map((line) => line.split(/[ :]/, 1)[0]);
  expect(verbs.filter((verb) => verb === 'BDAT').length).toBeGreaterThan(20);
});

test('queued messages are shared among connections, and no connection exceeds its message limit', async () => {
  await using server = await ScriptedServer.start({ offers: OFFERS, strict: true });
  const pool = createSmtpPool(server.url, { connections: 4, maxMessagesPerConnection: 10 });
  expect(kinds(await send(pool, 0, 200))).toBe('accepted '.repeat(200).trim());
  expect(server.connections).toBeGreaterThanOrEqual(20);
  await pool.close();
});

test('the width of a pool grows with its batch size, but not for long messages', async () => {
  await using it = await warm(() => undefined);
  const half = `Subject: x\r\n\r\n${'x'.repeat(70)}\r\n`.repeat(30_000);
  const widths: number[] = [];
  const sending = send(it.pool, 0, 60);
  await vi.waitFor(() => {
    widths.push(it.pool.width);
    expect(it.pool.width).toBe(16);
  });
  await sending;
  const heavy = [0, 1, 2].map((n) => it.pool.send(message(n, half)));
  expect(it.pool.width).toBe(2);
  await Promise.all(heavy);
});

test('close finishes the batches in flight', async () => {
  await using it = await warm(() => undefined);
  const sending = send(it.pool, 20, 50);
  await sleep(1);
  await it.pool.close();
  expect(kinds(await sending)).toBe('accepted '.repeat(50).trim());
});
