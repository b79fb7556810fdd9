import { describe, expect, test } from 'vitest';
import { createSmtpPool, parseRelayUrl, probeRelay } from '../src/index.ts';
import type { SendOutcome, SmtpPoolOptions } from '../src/index.ts';
import { ScriptedServer } from './scripted-server.ts';
import type { Act, Script, Stage } from './scripted-server.ts';

const PIPELINING = ['PIPELINING', '8BITMIME'];
const TIMEOUTS = { greetingMs: 500, commandMs: 500, dataMs: 500, finalMs: 500, blockMs: 500 };
/** For a message of many megabytes on a busy machine. */
const PATIENT = { greetingMs: 20_000, commandMs: 20_000, dataMs: 20_000, finalMs: 20_000, blockMs: 20_000 };
const message = (n: number, data = `Subject: ${n}\r\n\r\nHi\r\n`) => ({
  from: 'a@example.com',
  to: `user${n}@example.com`,
  data,
});

/** Sends messages over one connection of a hostile server. */
async function drive(script: Script, count: number, options: SmtpPoolOptions = {}, first?: string) {
  await using server = await ScriptedServer.start(script);
  const pool = createSmtpPool(server.url, {
    connections: 1,
    reconnectDelaysMs: [60_000],
    timeouts: TIMEOUTS,
    ...options,
  });
  const outcomes = await Promise.all(
    Array.from({ length: count }, (_, n) => pool.send(message(n, n === 0 ? first : undefined))),
  );
  pool.abort();
  return { outcomes, mails: server.mails.map(({ to }) => to[0]), connections: server.connections };
}

const at =
  (stage: Stage, act: Act | string, nth = 0): Script['act'] =>
  (s, n) =>
    s === stage && n === nth ? act : undefined;
const kinds = (outcomes: SendOutcome[]) => outcomes.map(({ kind }) => kind).join(' ');

const EHLO = '250-test\r\n250 PIPELINING\r\n';

/** What a server sends at a stage, none of which lets a message through. */
const BROKEN: readonly [string, Stage, string][] = [
  ['garbage', 'greeting', '\xff\xfe\x00\x01'.repeat(50_000)],
  ['an endless line', 'greeting', '2'.repeat(200_000)],
  ['an endless reply', 'greeting', '220-x\r\n'.repeat(50_000)],
  ['100,000 extensions', 'ehlo', `${Array.from({ length: 100_000 }, (_, n) => `250-X${n}`).join('\r\n')}\r\n250 Y\r\n`],
  ['a second greeting', 'greeting', '220 one\r\n220 two\r\n'],
  ['a reply before EHLO', 'greeting', `220 one\r\n${EHLO}`],
  ['a reply after that to EHLO', 'ehlo', `${EHLO}250 more\r\n`],
  ['a reply to each command before it', 'ehlo', `${EHLO}250 ok\r\n250 ok\r\n354 go\r\n250 queued\r\n`],
  ...['000 x', '099 x', '100 x', '199 x', '600 x', '999 x', '354 x', '\x00\x00\x00'].flatMap(
    (line): [string, Stage, string][] =>
      (['greeting', 'ehlo', 'mail', 'rcpt'] as const).map((stage) => [JSON.stringify(line), stage, `${line}\r\n`]),
  ),
];

describe.each([
  ['with PIPELINING', PIPELINING],
  ['one command at a time', ['8BITMIME']],
])('%s', (_, offers) => {
  test.each(BROKEN)('%s at %s defers what waits, after one connection', async (_what, stage, raw) => {
    const script: Script = { offers, act: (s) => (s === stage ? { raw } : undefined) };
    const { outcomes, mails, connections } = await drive(script, 3);
    expect(kinds(outcomes)).toBe('deferred deferred deferred');
    expect(mails).toEqual([]);
    expect(connections).toBeLessThanOrEqual(3);
    for (const { answer } of outcomes) expect(answer).toMatch(/^\P{Cc}{3,500}$/u);
  });

  test.each([
    '250 2.0.0 queued\r\n550 5.1.1 no such user\r\n',
    '250 2.0.0 queued\r\n250 2.0.0 queued\r\n',
    '250 2.0.0 queued\r\n554 5.7.1 refused\r\n250 ok\r\n',
  ])('two replies to a final dot (%j) never decide the next message', async (raw) => {
    const { outcomes, mails } = await drive({ offers, act: at('dot', { raw }, 1) }, 4);
    expect(outcomes.slice(0, 2).map(({ kind }) => kind)).toEqual(['accepted', 'accepted']);
    // The next message is deferred or takes another connection.
    for (const [n, { kind }] of outcomes.entries()) {
      expect(['accepted', 'deferred']).toContain(kind);
      expect(mails.filter((to) => to === `user${n}@example.com`)).toHaveLength(kind === 'accepted' ? 1 : 0);
    }
  });

  test('a 421 behind the reply to a final dot leaves that message accepted', async () => {
    const act: Act = { raw: '250 2.0.0 queued\r\n421 4.3.2 bye\r\n', after: 'end' };
    const { outcomes } = await drive({ offers, act: at('dot', act) }, 2);
    expect(outcomes[0]).toMatchObject({ kind: 'accepted' });
    expect(outcomes[1]?.kind).not.toBe('refused');
  });

  test('replies are stored as one readable line', async () => {
    const raw = `550-5.1.1 \x00\x1b[31m no\xc3\x28 such\u2028 user\r\n550 5.1.1 ${'x'.repeat(9_000)}\r\n`;
    const { outcomes } = await drive({ offers, act: (stage) => (stage === 'rcpt' ? { raw } : undefined) }, 1);
    expect(outcomes[0]).toMatchObject({ kind: 'refused', verdict: 'hard_bounce' });
    expect(outcomes[0]?.answer).toMatch(/^[^\p{Cc}\u2028]{100,500}$/u);
    expect(outcomes[0]?.answer.isWellFormed()).toBe(true);
  });

  test.each(
    ['one line', 'many lines'].flatMap((form) =>
      (['mail', 'rcpt', 'data', 'dot'] as const).map((at) => [form, at] as const),
    ),
  )('a refusal without an end, in %s at %s, is of that message, and the others are accepted', async (form, stage) => {
    const raw = form === 'one line' ? `550 5.1.1 ${'x'.repeat(50_000)}` : '550-5.1.1 no such user\r\n'.repeat(1_000);
    const { outcomes } = await drive({ offers, act: at(stage, { raw }) }, 3);
    expect(kinds(outcomes)).toBe('refused accepted accepted');
    expect(outcomes[0]?.answer).toMatch(/^550 5\.1\.1 \P{Cc}{3,490}$/u);
  });

  test('a refusal without an end, before the whole message was sent, is of that message', async () => {
    const raw = `552 5.3.4 ${'x'.repeat(50_000)}`;
    const { outcomes } = await drive(
      { offers, act: at('body', { raw }) },
      2,
      { timeouts: PATIENT },
      `Subject: x\r\n\r\n${`${'x'.repeat(70)}\r\n`.repeat(250_000)}`,
    );
    expect(kinds(outcomes)).toBe('refused accepted');
  });

  test.each(['-1', '0', '99999999999999999999999', '0x10', '1e1', 'ten', ''])(
    'SIZE %j does not limit messages',
    async (size) => {
      const { outcomes } = await drive({ offers: [...offers, `SIZE ${size}`] }, 1);
      expect(kinds(outcomes)).toBe('accepted');
    },
  );
});

test('a test of a relay fails if the server sends more than the reply to EHLO', async () => {
  await using server = await ScriptedServer.start({ act: at('ehlo', { raw: `${EHLO}250 more\r\n` }) });
  expect(await probeRelay(parseRelayUrl(server.url))).toMatchObject({ kind: 'deferred', unreachable: true });
});

test('a reply too many in a batch never accepts a message that the server refused', async () => {
  let to = '';
  const script: Script = {
    offers: [...PIPELINING, 'CHUNKING'],
    act: (stage, _nth, line) => {
      to = /^RCPT.*?(\d+)@/.exec(line)?.[1] ?? to;
      if (stage !== 'dot') return undefined;
      if (to === '12') return { raw: '250 2.0.0 queued\r\n250 2.0.0 queued\r\n' };
      return Number(to) > 12 ? '554 5.6.0 refused' : undefined;
    },
  };
  const { outcomes } = await drive(script, 20);
  expect(kinds(outcomes.slice(0, 13))).toBe('accepted '.repeat(13).trim());
  for (const { kind } of outcomes.slice(13)) expect(['unknown', 'deferred', 'refused']).toContain(kind);
  expect(outcomes[13]).toMatchObject({ kind: 'unknown' });
});

test.each([
  ['PLAIN', '334 !!! not base64 !!!'],
  ['LOGIN', '334 !!! not base64 !!!'],
  ['PLAIN', '250 ok'],
  ['LOGIN', `334 ${'A'.repeat(9_000)}`],
])('AUTH %s that is answered with %.30s again and again is given up', async (mechanism, reply) => {
  await using server = await ScriptedServer.start({
    offers: [`AUTH ${mechanism}`],
    act: (stage) => (stage === 'auth' ? reply : undefined),
  });
  const url = server.url.replace('//', '//ada:secret@');
  const pool = createSmtpPool(url, { reconnectDelaysMs: [60_000], timeouts: TIMEOUTS });
  const outcome = await pool.send(message(0));
  pool.abort();
  expect(outcome).toMatchObject({ kind: 'deferred', scope: 'host' });
  expect(outcome.answer.length).toBeLessThanOrEqual(500);
  expect(server.commands.length).toBeLessThan(6);
});
