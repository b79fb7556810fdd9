import { describe, expect, test } from 'vitest';
import { localHostName, parseRelayUrl } from '../src/index.ts';
import { Queue } from '../src/queue.ts';
import { ReplyReader } from '../src/replies.ts';
import { dotStuff } from '../src/dot-stuffing.ts';

describe('a reply reader', () => {
  const STREAM =
    '220 hi\r\n250-test\r\n250-SIZE 10\r\n250 PIPELINING\r\n250\r\n354 go\n550-5.7.1 no spam\r\n550-5.7.1 here\r\n550 5.7.1 please\r\n250 ünïcode\r\n421 x\u0007\ty\r\n';
  const REPLIES = [
    '220 hi',
    '250 test SIZE 10 PIPELINING',
    '250',
    '354 go',
    '550 5.7.1 no spam here please',
    '250 ünïcode',
    '421 x y',
  ];

  test('parses the same replies however the input is chunked', () => {
    const bytes = Buffer.from(STREAM);
    const reused = Buffer.alloc(bytes.length);
    for (let size = 1; size <= bytes.length; size++) {
      const answers: string[] = [];
      const reader = new ReplyReader((reply) => answers.push(reply.answer()));
      for (let at = 0; at < bytes.length; at += size) {
        const length = bytes.copy(reused, 0, at, at + size);
        expect(reader.push(reused, length)).toBe(true);
        // The next read overwrites the buffer, as sockets do.
        reused.fill('9');
      }
      expect(answers).toEqual(REPLIES);
      expect(reader.midReply).toBe(false);
    }
  });

  test('rejects input that is not SMTP', () => {
    for (const line of ['', '25', 'abc', '25x ok', '2500 ok', '250_ok', '150 ok', '600 ok', '-25 ok', ' 250 ok']) {
      const reader = new ReplyReader(() => expect.unreachable(line));
      expect(reader.push(Buffer.from(`${line}\r\n`), line.length + 2), line).toBe(false);
    }
    const endless = Buffer.alloc(20_000, '2');
    expect(new ReplyReader(() => undefined).push(endless, endless.length)).toBe(false);
    const lines = Buffer.from('250-x\r\n'.repeat(300));
    expect(new ReplyReader(() => undefined).push(lines, lines.length)).toBe(false);
  });

  test('an answer is a single line of at most 500 characters', () => {
    const answers: string[] = [];
    const reader = new ReplyReader((reply) => answers.push(reply.answer()));
    const bytes = Buffer.from(`250-${'a '.repeat(200)}\r\n250 ${'😀'.repeat(200)}\r\n`);
    reader.push(bytes, bytes.length);
    expect(answers[0]!.length).toBeLessThanOrEqual(500);
    expect(answers[0]!.isWellFormed()).toBe(true);
  });
});

test('line endings become CRLF and leading dots are doubled', () => {
  expect(dotStuff('.a\n.b\r.c\r\n..d')).toBe('..a\r\n..b\r\n..c\r\n...d\r\n');
  expect(dotStuff('a\n\r\r\n\n')).toBe('a\r\n\r\n\r\n\r\n');
  expect(dotStuff(Uint8Array.from([0xff, 0x0a]).subarray(0, 1))).toBe('\xff\r\n');
});

test('a queue is first in, first out', () => {
  const queue = new Queue<number>();
  const taken: (number | undefined)[] = [];
  let next = 0;
  for (let n = 0; n < 20_000; n++) {
    queue.push(n);
    taken.push(n % 3 > 0 ? queue.shift() : undefined);
  }
  const given = taken.filter((item) => item !== undefined);
  next = given.length;
  expect(given).toEqual(Array.from({ length: next }, (_, n) => n));
  expect(queue.length).toBe(20_000 - next);
  while (queue.length > 0) expect(queue.shift()).toBe(next++);
  expect(next).toBe(20_000);
  expect(queue.shift()).toBeUndefined();
});

test.each([
  ['mx.example.net', 'https://mail.example.com', 'mx.example.net'],
  ['1fdbc74db162', 'https://mail.example.com:8443/app', 'mail.example.com'],
  ['1fdbc74db162', 'http://localhost:3400', '1fdbc74db162'],
  ['1fdbc74db162', 'http://192.0.2.1', '1fdbc74db162'],
  ['1fdbc74db162', 'http://[2001:db8::192.0.2.1]', '1fdbc74db162'],
  ['1fdbc74db162', undefined, '1fdbc74db162'],
  ['-odd-', undefined, '[127.0.0.1]'],
])('on the machine %s with the public URL %s the name in EHLO is %s', (machine, publicUrl, name) => {
  expect(localHostName(publicUrl, machine)).toBe(name);
});

test('the name in EHLO is that of the relay URL, or of this machine', () => {
  const publicUrl = 'https://mail.example.com';
  expect(parseRelayUrl('smtp://a?name=our.example.org', publicUrl).clientName).toBe('our.example.org');
  expect(parseRelayUrl('smtp://a', publicUrl).clientName).toBe(localHostName(publicUrl));
});

test('a relay URL is parsed', () => {
  expect(parseRelayUrl('smtp://mail.example.com')).toMatchObject({
    host: 'mail.example.com',
    port: 25,
    implicitTls: false,
  });
  expect(parseRelayUrl('smtps://u%40x:p%2Fw@[::1]?name=me.example')).toMatchObject({
    host: '::1',
    port: 465,
    implicitTls: true,
    credentials: { user: 'u@x', password: 'p/w' },
    clientName: 'me.example',
  });
  expect(parseRelayUrl('smtp://a:587?tls=required')).toMatchObject({ port: 587, requireTls: true, insecure: false });
  expect(parseRelayUrl('smtp://a')).toMatchObject({ reports: true });
  expect(parseRelayUrl('smtp://a?dsn=off')).toMatchObject({ reports: false });
  for (const bad of [
    'mail.example.com',
    'http://a',
    'smtp://',
    'smtp://a?tls=no',
    'smtp://a?x=1',
    'smtp://a?dsn=maybe',
    'smtp://a?name=a%0d%0ab',
  ]) {
    expect(() => parseRelayUrl(bad), bad).toThrow(TypeError);
  }
  expect(() => parseRelayUrl('smtp://u:secret@a?x=1')).toThrow(expect.not.stringContaining('secret'));
});
