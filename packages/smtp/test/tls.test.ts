import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { selfSigned } from '@postroom/platform';
import { createSmtpPool } from '../src/index.ts';
import type { SmtpPoolOptions, SendOutcome } from '../src/index.ts';
import { ScriptedServer } from './scripted-server.ts';
import type { Script } from './scripted-server.ts';

const trusted = selfSigned();
const stranger = selfSigned();
const before = getCACertificates();
beforeAll(() => setDefaultCACertificates([...before, trusted.cert]));
afterAll(() => setDefaultCACertificates(before));

const OFFERS = ['PIPELINING', 'STARTTLS', 'AUTH PLAIN LOGIN'];

/** Sends one message through a server, whose URL the test may change. */
async function send(script: Script, change: (url: URL) => void = () => undefined, options?: SmtpPoolOptions) {
  await using server = await ScriptedServer.start({ offers: OFFERS, ...script });
  const url = new URL(server.url);
  change(url);
  const pool = createSmtpPool(url.href, { reconnectDelaysMs: [1], ...options });
  const outcome: SendOutcome = await pool.send({ from: 'a@example.com', to: 'b@example.com', data: 'x\r\n' });
  const more = outcome.kind === 'accepted' ? await sendMore(pool) : [];
  await pool.close();
  return { outcome, more, commands: server.commands, mails: server.mails };
}

async function sendMore(pool: ReturnType<typeof createSmtpPool>): Promise<string[]> {
  const messages = Array.from({ length: 50 }, (_, n) => ({
    from: '',
    to: `u${n}@example.com`,
    data: `${n}\r\n`.repeat(5000),
  }));
  return (await Promise.all(messages.map((message) => pool.send(message)))).map(({ kind }) => kind);
}

const query = (name: string, value: string) => (url: URL) => url.searchParams.set(name, value);

test('STARTTLS is used if offered, and the certificate is verified', async () => {
  const { outcome, more, commands, mails } = await send({ tls: trusted });
  expect(outcome).toMatchObject({ kind: 'accepted' });
  expect(new Set(more)).toEqual(new Set(['accepted']));
  expect(mails).toHaveLength(51);
  expect(commands.slice(0, 3).map((line) => line.split(' ', 1)[0])).toEqual(['EHLO', 'STARTTLS', 'EHLO']);
});

test('smtps: uses TLS from the first byte', async () => {
  const { outcome, more } = await send({ tls: { ...trusted, implicit: true } });
  expect(outcome).toMatchObject({ kind: 'accepted' });
  expect(new Set(more)).toEqual(new Set(['accepted']));
});

test('the certificate must match the hostname', async () => {
  const { outcome } = await send({ tls: trusted }, (url) => (url.hostname = 'localhost'));
  expect(outcome).toMatchObject({ kind: 'accepted' });
  const other = await send({ tls: trusted }, (url) => (url.hostname = '127.0.0.2'));
  expect(other.outcome).toMatchObject({ kind: 'deferred', scope: 'host' });
});

test.each([false, true])(
  'an untrusted certificate defers every message, unless tls=insecure (implicit: %s)',
  async (implicit) => {
    const script: Script = { tls: { ...stranger, implicit } };
    const refused = await send(script);
    expect(refused.outcome).toMatchObject({
      kind: 'deferred',
      scope: 'host',
      answer: expect.stringContaining('certificate is not trusted'),
    });
    expect(refused.mails).toEqual([]);
    const { outcome } = await send(script, query('tls', 'insecure'));
    expect(outcome).toMatchObject({ kind: 'accepted' });
  },
);

test('tls=required sends nothing in the clear', async () => {
  const without = await send({ offers: ['PIPELINING'] }, query('tls', 'required'));
  expect(without.outcome).toMatchObject({
    kind: 'deferred',
    scope: 'host',
    answer:
      'The mail server does not offer STARTTLS, and mail is not sent in the clear. Check the port and the encryption',
  });
  expect(without.mails).toEqual([]);
  const failing = await send({
    tls: trusted,
    act: (stage) => (stage === 'starttls' ? '454 4.3.0 not now' : undefined),
  });
  expect(failing.outcome).toMatchObject({ kind: 'deferred', scope: 'host', answer: '454 4.3.0 not now' });
  const withTls = await send({ tls: trusted }, query('tls', 'required'));
  expect(withTls.outcome).toMatchObject({ kind: 'accepted' });
});

test('plaintext injected after STARTTLS is never trusted', async () => {
  for (const raw of ['220 go\r\n250 AUTH PLAIN\r\n', '220 go\r\n250-x', '220 go\r\n250-x\r\n']) {
    const { outcome } = await send({ tls: trusted, act: (stage) => (stage === 'starttls' ? { raw } : undefined) });
    expect(outcome).toMatchObject({ kind: 'deferred', scope: 'host' });
  }
});

test('a stalled TLS handshake times out', async () => {
  const script: Script = { tls: trusted, act: (stage) => (stage === 'starttls' ? { raw: '220 go\r\n' } : undefined) };
  const { outcome } = await send(script, undefined, { timeouts: { connectMs: 1_000 } });
  expect(outcome).toMatchObject({ kind: 'deferred', scope: 'host', answer: expect.stringContaining('TLS') });
});

const signIn = (url: URL) => {
  url.username = encodeURIComponent('ada@example.com');
  url.password = encodeURIComponent('pä:ss/word');
};
const base64 = (text: string) => Buffer.from(text).toString('base64');

test('AUTH PLAIN and AUTH LOGIN authenticate', async () => {
  const plain = await send({ tls: trusted }, signIn);
  expect(plain.outcome).toMatchObject({ kind: 'accepted' });
  expect(plain.commands).toContain(`AUTH PLAIN ${base64('\0ada@example.com\0pä:ss/word')}`);
  const login = await send(
    {
      offers: ['AUTH=LOGIN'],
      act: (stage, nth) => (stage === 'auth' ? ['334 VXNlcm5hbWU6', '334 UGFzc3dvcmQ6', undefined][nth] : undefined),
    },
    signIn,
  );
  expect(login.outcome).toMatchObject({ kind: 'accepted' });
  expect(login.commands.slice(1, 4)).toEqual(['AUTH LOGIN', base64('ada@example.com'), base64('pä:ss/word')]);
});

test('rejected credentials are a configuration refusal and are never disclosed', async () => {
  const refused = { kind: 'refused', verdict: 'configuration', stop: 'account' };
  const wrong = await send(
    { act: (stage) => (stage === 'auth' ? '535 5.7.8 no' : undefined), offers: ['AUTH PLAIN'] },
    signIn,
  );
  expect(wrong.outcome).toMatchObject({ ...refused, answer: '535 5.7.8 no' });
  const none = await send({ offers: ['AUTH CRAM-MD5'] }, signIn);
  expect(none.outcome).toMatchObject(refused);
  const later = await send(
    { act: (stage) => (stage === 'auth' ? '454 4.7.0 later' : undefined), offers: ['AUTH PLAIN'] },
    signIn,
  );
  expect(later.outcome).toMatchObject({ kind: 'deferred', scope: 'host' });
  const silent = await send(
    { act: (stage) => (stage === 'auth' ? { reply: '334 x' } : undefined), offers: ['AUTH LOGIN'] },
    signIn,
    { timeouts: { commandMs: 80 } },
  );
  expect(silent.outcome.answer).not.toContain(base64('pä:ss/word'));
});

test('credentials never leave the machine without TLS', async () => {
  const elsewhere = (url: URL) => {
    signIn(url);
    url.hostname = '0.0.0.0'; // the same server, but not a loopback address
  };
  const { outcome, commands } = await send({ offers: ['AUTH PLAIN'] }, elsewhere);
  expect(outcome).toMatchObject({ kind: 'refused', verdict: 'configuration', answer: expect.stringContaining('TLS') });
  expect(commands.join()).not.toContain('AUTH');
  const allowed = await send({ offers: ['AUTH PLAIN'] }, (url) => {
    elsewhere(url);
    url.searchParams.set('tls', 'insecure');
  });
  expect(allowed.outcome).toMatchObject({ kind: 'accepted' });
});
