import { expect, test } from 'vitest';
import { formatMailbox, parseMailbox } from '../src/mailbox.ts';

test.each([
  ['ada@example.com', { email: 'ada@example.com' }],
  [' <ada@example.com> ', { email: 'ada@example.com' }],
  ['Ada Lovelace <ada@example.com>', { email: 'ada@example.com', name: 'Ada Lovelace' }],
  ['"Lovelace, Ada \\"A\\"" <ada@example.com>', { email: 'ada@example.com', name: 'Lovelace, Ada "A"' }],
  ['Zoë Ångström <zoe@example.com>', { email: 'zoe@example.com', name: 'Zoë Ångström' }],
])('%s is read, and written so that it is read the same', (text, mailbox) => {
  expect(parseMailbox(text)).toEqual(mailbox);
  expect(parseMailbox(formatMailbox(mailbox))).toEqual(mailbox);
});

test.each([
  '',
  'nobody',
  'Ada <nobody>',
  'Ada <ada@example.com',
  'a@b.test, c@d.test',
  'Ada\r\nBcc: x <ada@example.com>',
])('%j is not an address', (text) => expect(typeof parseMailbox(text)).toBe('string'));

test.each([
  'Ada <ada@example.com',
  'Ada "The Countess" Lovelace <ada@example.com>',
  'Ada <Lovelace> <ada@example.com>',
  'Ada <>',
])('the error of %s says how to write a name', (text) =>
  expect(parseMailbox(text)).toContain('such as Ada <ada@example.com>'),
);
