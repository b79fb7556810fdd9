import { expect, test } from 'vitest';
import { isHost, isOwnHost } from '../src/host-check.ts';

test.each([
  '127.0.0.1:3400',
  '127.0.0.1',
  '[::1]:3400',
  '[::1]',
  'localhost',
  'LOCALHOST:3400',
  'localhost.:3400',
  'a.localhost:1',
  'gateway:3400',
])('a request for %s is for this machine', (host) => expect(isOwnHost(host)).toBe(true));

test.each(['evil.test', 'evil.test:3400', '127.0.0.1.evil.test', 'localhost.evil.test', '', undefined, ':80', 'a:b:c'])(
  'a request for %s is not, whatever that name resolves to',
  (host) => {
    expect(isOwnHost(host)).toBe(false);
    expect(isOwnHost(host, 'https://mail.example.com')).toBe(false);
  },
);

test('the host of PUBLIC_URL is ours', () => {
  expect(isOwnHost('mail.example.com', 'https://mail.example.com')).toBe(true);
  expect(isOwnHost('Mail.example.com:443', 'https://mail.example.com')).toBe(true);
  expect(isOwnHost('other.example.com', 'https://mail.example.com')).toBe(false);
});

test.each(['example.com', 'EXAMPLE.com.:8080', 'a_b', '127.0.0.1:1', '[::1]', '[fe80::1]:80', undefined])(
  '%s is a host',
  (header) => expect(isHost(header)).toBe(true),
);

test.each(['', ':80', 'a b', 'a@b', 'a/b', 'a?b', 'a#b', 'a\\b', '127.0.0.1:99999', '[::1', '[x]', 'a:b', 'é', '%41'])(
  '%j is not a host',
  (header) => expect(isHost(header)).toBe(false),
);
