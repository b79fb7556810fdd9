import { expect, test } from 'vitest';
import {
  emailDomain,
  emailKey,
  emailKeyParts,
  emailProblem,
  emailSpellings,
  normalizeDomain,
  normalizeEmail,
} from '../src/index.ts';

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
  'ａｄａ@ｅｘａｍｐｌｅ．ｃｏｍ',
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
  'ada@exa%6dple.com',
  'ada@example.com:25',
  'ada＠example.com',
  'a＠b@example.com',
  'ada．@example.com',
  'ada@xn--example-.com',
  `${'ü'.repeat(33)}@example.com`,
  '\ud800ada@example.com',
])('%j is not', (address) => expect(emailProblem(address)).toBeTypeOf('string'));

test.each(['ada@example.com,bob@example.com', 'Ada <ada@example.com>; bob@example.com', 'ada@home@example.com'])(
  'the problem with %s is that it is several addresses',
  (address) => expect(emailProblem(address)).toBe('must be a single email address'),
);

test.each([
  ['a..b@example.com', 'must not have two dots in a row before the @'],
  ['.ada@example.com', 'must not start with a dot'],
  ['ada.@example.com', 'must not have a dot right before the @'],
  ['a b@example.com', 'must not have a space before the @'],
  ['a,b@example.com', 'must not have a comma before the @'],
  ['mailto:ada@example.com', 'must not have the character : before the @'],
  ['ada\u0007@example.com', 'must not have whitespace or a control character before the @'],
  ['Ada <ada@example.com>', 'must be only the address, without a name or < and >'],
  [`${'a'.repeat(65)}@example.com`, 'must have at most 64 characters before the @'],
  ['ada@example..com', 'must not have two dots in a row after the @'],
  ['ada@.example.com', 'must not have a dot right after the @'],
  ['ada@exam_ple.com', 'must not have the character _ after the @'],
  ['ada@exa mple.com', 'must not have a space after the @'],
  ['ada@example.com\n', 'must not have whitespace or a control character after the @'],
  ['ada@-example.com', 'must not have a hyphen at the start or the end of a part of its domain'],
  ['ada@127.0.0.1', 'must have a domain after the @, not an IP address'],
  ['ada@[127.0.0.1]', 'must have a domain after the @, not an IP address'],
  ['ada@localhost', 'must have a domain such as example.com after the @'],
  ['ada@', 'must have a domain such as example.com after the @'],
])('the problem with %j is: %s', (address, problem) => expect(emailProblem(address)).toBe(problem));

const INVISIBLE = [
  '\u200b',
  '\u00ad',
  '\u2060',
  '\ufeff',
  '\u200d',
  '\u202e',
  '\ufe0f',
  '\u{e0041}',
  '\u034f',
  '\u3164',
];

test.each(INVISIBLE)('an invisible character is named and rejected, on either side of the @: %j', (char) => {
  const code = `U+${char.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const address of [`a${char}da@example.com`, `ada@exam${char}ple.com`, `ada${char}@bücher.example`]) {
    expect(emailProblem(address)).toBe(`must not have the invisible character ${code}`);
    expect(emailKey(address)).toBe(emailKey(address.replace(char, '')));
  }
});

test.each([
  ['  Ada@Example.COM ', 'ada@example.com'],
  ['ada@ｅｘａｍｐｌｅ．ｃｏｍ', 'ada@example.com'],
  ['ada@example。com', 'ada@example.com'],
  ['ada@example.com.', 'ada@example.com'],
  ['Ada@Bücher.example。', 'ada@xn--bcher-kva.example'],
  ['ａｄａ@example.com', 'ada@example.com'],
  ['ada@Bücher.example', 'ada@xn--bcher-kva.example'],
  ['ada@bu\u0308cher.example', 'ada@xn--bcher-kva.example'],
  ['ADA@XN--BCHER-KVA.EXAMPLE', 'ada@xn--bcher-kva.example'],
  ['J\u00d6RG@example.com', 'jörg@example.com'],
  ['jo\u0308rg@example.com', 'jörg@example.com'],
  ['\u039f\u0394\u039f\u03a3@example.com', 'οδοσ@example.com'],
  ['\u03bf\u03b4\u03bf\u03c2@example.com', 'οδοσ@example.com'],
])('%j has the key %s', (address, key) => {
  expect(emailProblem(address.trim())).toBeUndefined();
  expect(emailKey(address)).toBe(key);
  expect(emailKey(key)).toBe(key);
  expect(emailKey(normalizeEmail(address))).toBe(key);
});

/** A sample stands for all ideographs and syllables with only one spelling. */
const isLikeOthers = (char: string, code: number) =>
  code % 61 !== 0 && /[\p{Script=Han}\p{Script=Hangul}]/u.test(char) && char.normalize('NFKC') === char;

test('the key of a key is the key, whatever character is in an address', () => {
  const others: string[] = [];
  for (let code = 0x20; code < 0x30000; code++) {
    const char = String.fromCodePoint(code);
    if (isLikeOthers(char, code)) continue;
    for (const address of [`a${char}a@example.com`, `ada@a${char}a.example`]) {
      if (emailProblem(address) !== undefined) continue;
      const key = emailKey(address);
      if (emailKey(key) !== key || emailKey(normalizeEmail(address)) !== key) others.push(address);
    }
  }
  expect(others).toEqual([]);
}, 60_000);

test('an address is shown as it was given, but for space, width and the case of a domain beyond ASCII', () => {
  expect(normalizeEmail(' Ada@Example.COM ')).toBe('Ada@Example.COM');
  expect(normalizeEmail('Jo\u0308rg@B\u00dccher.example')).toBe('Jörg@bücher.example');
  expect(normalizeEmail('Ａda@ｅｘａｍｐｌｅ．ｃｏｍ')).toBe('Ada@example.com');
});

test('a key is spelled in A-labels and in letters', () => {
  expect(emailSpellings('ada@example.com')).toEqual(['ada@example.com']);
  expect(emailSpellings('ada@xn--bcher-kva.example')).toEqual(['ada@xn--bcher-kva.example', 'ada@bücher.example']);
});

test('a part of an address is searched for as keys have it', () => {
  expect(emailKeyParts('Ada@Ex')).toEqual(['ada@ex']);
  expect(emailKeyParts('@bücher.example')).toEqual(['@xn--bcher-kva.example']);
  expect(emailKeyParts('Jörg')).toEqual(['jörg', 'xn--jrg-sna']);
});

test.each([
  ['Example.COM.', 'example.com'],
  ['例え。jp', 'xn--r8jz45g.jp'],
  ['exam\u00adple.com', ''],
  ['exam ple.com', ''],
  ['exa%6dple.com', ''],
  ['xn--ab-m1t.com', ''],
])('the domain %j is %j', (name, domain) => {
  expect(normalizeDomain(name)).toBe(domain);
  expect(emailDomain(`"a@b"@${name}`)).toBe(domain);
});
