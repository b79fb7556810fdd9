import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { classify, type Verdict } from '@postroom/smtp';
import { runIsolated } from '@postroom/platform';
import { parseBounce } from '../src/index.ts';

const FOLDER = join(import.meta.dirname, 'fixtures');
const fixture = (name: string) => readFileSync(join(FOLDER, `${name}.eml`));

/** The classification of each bounce. */
const BOUNCED: Record<string, Verdict> = {
  'postfix-unknown': 'hard_bounce',
  'postfix-local': 'hard_bounce',
  'postfix-full': 'soft_bounce',
  'postfix-expired': 'transient',
  'postfix-no-domain': 'other',
  'postfix-spamhaus': 'policy',
  'exim-unknown': 'hard_bounce',
  'exim-unrouteable': 'hard_bounce',
  'exim-full': 'soft_bounce',
  'qmail-unknown': 'hard_bounce',
  'qmail-remote': 'hard_bounce',
  'qmail-expired': 'transient',
  'sendmail-unknown': 'hard_bounce',
  'sendmail-old': 'hard_bounce',
  'exchange365-unknown': 'hard_bounce',
  'exchange365-edge': 'hard_bounce',
  'exchange365-restricted': 'policy',
  exchange2003: 'hard_bounce',
  'outlook-block-list': 'policy',
  'gmail-unknown': 'hard_bounce',
  'gmail-full': 'soft_bounce',
  'yahoo-disabled': 'hard_bounce',
  'yahoo-full': 'soft_bounce',
  'ses-unknown': 'hard_bounce',
  'ses-content': 'content',
  'zimbra-unknown': 'hard_bounce',
  'icloud-full': 'soft_bounce',
  'icloud-policy': 'policy',
  'gmx-unknown': 'hard_bounce',
  'mimecast-policy': 'policy',
  'mimecast-unknown': 'hard_bounce',
  'barracuda-blocked': 'policy',
  'domino-unknown': 'hard_bounce',
  smtputf8: 'hard_bounce',
  'dsn-without-diagnostic': 'other',
  'german-text': 'hard_bounce',
};

const COMPLAINED = ['arf-yahoo', 'arf-outlook', 'arf-fastmail'];

/** Part of the reason why each is ignored. */
const IGNORED: Record<string, string> = {
  'postfix-delayed': 'delayed',
  'postfix-relayed': 'relayed',
  'exim-delayed': 'delayed',
  'sendmail-warning': 'delayed',
  'gmail-delay': 'delayed',
  'arf-not-spam': 'not-spam',
  'arf-auth-failure': 'auth-failure',
  vacation: 'automatic answer',
  'vacation-german': 'automatic answer',
  'vacation-precedence': 'automatic answer',
  challenge: 'confirmation',
  'challenge-boxbe': 'confirmation',
  person: 'answered',
  empty: 'not a bounce',
};

test('every fixture has a test', () => {
  const names = readdirSync(FOLDER).map((file) => file.replace(/\.eml$/, ''));
  expect(names.sort()).toEqual(
    [...Object.keys(BOUNCED), ...COMPLAINED, ...Object.keys(IGNORED), 'postfix-delivered'].sort(),
  );
  expect(names.length).toBeGreaterThan(50);
});

describe('a bounce', () => {
  test.each(Object.entries(BOUNCED))('%s is a bounce, of verdict %s', async (name, verdict) => {
    const returned = await parseBounce('test', fixture(name));
    expect(returned.kind).toBe('bounced');
    const { detail } = returned as { detail: string };
    expect(classify(detail).verdict, detail).toBe(verdict);
  });

  test.each(COMPLAINED)('%s is a complaint', async (name) => {
    expect(await parseBounce('test', fixture(name))).toMatchObject({
      kind: 'complained',
      detail: expect.stringContaining('abuse'),
    });
  });

  test.each(Object.entries(IGNORED))('%s counts for nothing: %s', async (name, why) => {
    expect(await parseBounce('test', fixture(name))).toEqual({ kind: 'ignored', why: expect.stringContaining(why) });
  });

  test('that reports success is a delivery', async () => {
    expect(await parseBounce('test', fixture('postfix-delivered'))).toEqual({ kind: 'delivered' });
  });

  test('keeps the words of the server, on one line', async () => {
    expect(await parseBounce('test', fixture('gmail-full'))).toEqual({
      kind: 'bounced',
      detail: expect.stringMatching(/^452-?4?\.?.*out of storage space[^\n]*$/),
    });
  });
});

test('a bounce whose parsing was killed is not ignored: the server that returned it is to try again', async () => {
  const about = {
    module: 'data:text/javascript,export const pid = () => process.pid',
    name: 'pid',
    timeLimitMs: 5_000,
  };
  const pid = await runIsolated<[], number>(about, 'test');
  const parsed = parseBounce('test', Buffer.concat([fixture('gmail-unknown'), Buffer.alloc(500_000, 'a\n')]));
  process.kill(pid, 'SIGKILL');
  await expect(parsed).rejects.toThrow('A process of the pool was ended by SIGKILL.');
});

test.each([
  ['below the address', '<ada@example.org>:\nThe dog ate it.\n', 'The dog ate it.'],
  ['below a blank line', 'ada@example.org\n\nThe dog ate it.\n', 'The dog ate it.'],
  ['after a colon', 'ada@example.org: The dog ate it.', 'The dog ate it.'],
  ['in a column', '  ada@example.org   The dog ate it.\nMore', 'The dog ate it.'],
  ['at the beginning', 'The dog ate it, says ada@example.org', 'The dog ate it, says ada@example.org'],
  ['without an address of its own', 'ada@example.org is unhappy', 'ada@example.org is unhappy'],
])('the reason of a plain bounce may be %s', async (_, text, reason) => {
  const mail = `From: MAILER-DAEMON@example.org\r\nSubject: failure notice\r\n\r\n${text}`;
  expect(await parseBounce('test', Buffer.from(mail))).toEqual({ kind: 'bounced', detail: reason });
});

test('no bounce is without words, since one that says nothing would be taken for good', async () => {
  for (const name of Object.keys(BOUNCED)) {
    const returned = await parseBounce('test', fixture(name));
    expect(returned.kind === 'bounced' && returned.detail.length).toBeGreaterThan(5);
  }
});

test('what is no mail at all, or is broken in any place, is read without harm', async () => {
  const whole = fixture('postfix-unknown');
  for (let end = 0; end < whole.length; end += 37) await parseBounce('test', whole.subarray(0, end));
  const noise = Buffer.from(Array.from({ length: 5_000 }, (_, i) => (i * 7919) % 256));
  expect((await parseBounce('test', noise)).kind).toBe('ignored');
  const nested = Array.from(
    { length: 500 },
    (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`,
  ).join('');
  expect((await parseBounce('test', Buffer.from(nested))).kind).toBe('ignored');
});
