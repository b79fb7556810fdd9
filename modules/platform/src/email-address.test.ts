import { expect, test } from 'vitest';
import { emailKey, emailProblem } from './email-address.ts';

test.each([
  'ada@example.com',
  'a+b@sub.example.co',
  "o'brien@example.org",
  '用户@例え.jp',
  'x@xn--r8jz45g.jp',
  'UPPER@EXAMPLE.COM',
  'a_b-c.d@1a.de',
  'ada@Bücher.example',
  'ada@a--b.example',
  'ada@x.y',
])('%s is an email address', (address) => expect(emailProblem(address)).toBeUndefined());

test.each([
  '',
  'ada',
  '@example.com',
  'ada@',
  'ada@localhost',
  'a b@example.com',
  'ada@exa mple.com',
  'ada@exa\nmple.com',
  'ada@example.com\n',
  'ada@example\t.com',
  'ada@foo.0x7f',
  'ada@xn--.com',
  '.ada@example.com',
  'ada.@example.com',
  'a..b@example.com',
  'ada@-example.com',
  'ada@example.com,bob@example.com',
  'Ada <ada@example.com>',
  'ada@127.0.0.1',
  'ada\r\n@example.com',
  `${'a'.repeat(65)}@example.com`,
  `ada@${'a'.repeat(250)}.com`,
])('%j is not', (address) => expect(emailProblem(address)).toBeTypeOf('string'));

test('case and surrounding space do not make another address', () => {
  expect(emailKey('  Ada@Example.COM ')).toBe('ada@example.com');
});
