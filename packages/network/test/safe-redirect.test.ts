import { expect, test } from 'vitest';
import { safeRedirect } from '../src/safe-redirect.ts';

const ORIGIN = 'https://mail.acme.example';

test.each([
  ['/'],
  ['/p/prj_1/keys'],
  ['/p/prj_1/emails?status=sent&q=a%20b#top'],
  ['/sign-in?to=%2Fp%2Fprj_1'],
  ['/p/ünï', '/p/%C3%BCn%C3%AF'],
  ['/a/../p', '/p'],
  ['/%2509/evil.test'],
  ['/p?next=//evil.test'],
  ['/@evil.test'],
  ['/p/:80'],
])('a path of ours is followed: %s', (target, expected = target) => {
  expect(safeRedirect(target, ORIGIN)).toBe(expected);
});

test.each([
  '//evil.test',
  '///evil.test',
  '/\t/evil.test',
  '/\n/evil.test',
  '/\r\n/evil.test',
  '\t//evil.test',
  ' //evil.test',
  ' /p',
  '/ /evil.test',
  '/\\evil.test',
  '\\\\evil.test',
  '/p\\..\\\\evil.test',
  '/\u0000/evil.test',
  '/\u0085/evil.test',
  '/.//evil.test',
  '/..//evil.test',
  '/a/..//evil.test',
  '/%2e//evil.test',
  'https://evil.test',
  'https:evil.test',
  'https://mail.acme.example@evil.test/',
  'https://mail.acme.example/p',
  'javascript:alert(1)',
  'data:text/html,x',
  'evil.test',
  '@evil.test',
  '',
  undefined,
  null,
  7,
  ['/p'],
])('whatever leads elsewhere, or could, is not: %j', (target) => {
  expect(safeRedirect(target, ORIGIN)).toBeUndefined();
});
