import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseConfig } from '../src/config.ts';

test.each(['DATABASE_URL', 'GATEWAY_PORT', 'LOG_LEVEL'])(
  'a bad value in the environment is named, all of them at once: %s',
  (name) => {
    expect(() => parseConfig({ GATEWAY_PORT: 'abc', DATABASE_URL: 'mysql://x/y', LOG_LEVEL: 'loud' })).toThrow(
      `${name}: `,
    );
  },
);

test('an empty variable counts as not given', () => {
  expect(parseConfig({ GATEWAY_PORT: '', PUBLIC_URL: '' }).PUBLIC_URL).toBe('http://127.0.0.1:3400');
});

test('the explorer is closed in production and open in development', () => {
  expect(parseConfig({ NODE_ENV: 'production' })).toMatchObject({ GRAPHQL_EXPLORER: false });
  expect(parseConfig({ NODE_ENV: 'development' })).toMatchObject({ GRAPHQL_EXPLORER: true });
});

test.each([
  ['production', undefined, 'public'],
  ['development', undefined, 'loopback'],
  ['development', '0', 'public'],
  ['development', '1', 'private'],
  ['production', '1', 'private'],
])('in %s, with ALLOW_PRIVATE %s, tenants may have us connect to: %s', (NODE_ENV, allowed, scope) => {
  const settings = { NODE_ENV, WEBHOOKS_ALLOW_PRIVATE: allowed, PROVIDERS_ALLOW_PRIVATE: allowed };
  expect(parseConfig(settings)).toMatchObject({ webhookScope: scope, providerScope: scope });
});

test('only trusted documents, and none named: that is refused, and does not mean all', () => {
  expect(() => parseConfig({ GRAPHQL_TRUSTED_ONLY: '1' })).toThrow(
    /^GRAPHQL_TRUSTED_ONLY: requires GRAPHQL_TRUSTED_DOCUMENTS/,
  );
});

test('a secret key of the wrong length is refused', () => {
  expect(() => parseConfig({ POSTROOM_SECRET_KEY: Buffer.alloc(16).toString('base64') })).toThrow(
    /POSTROOM_SECRET_KEY: must be 32 bytes/,
  );
});

test('a key file holds the current key, and previous keys on its other lines', () => {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-config-'));
  const file = join(folder, 'secret.key');
  const [fresh, old] = [Buffer.alloc(32, 2), Buffer.alloc(32, 1)];
  writeFileSync(file, `${fresh.toString('base64')}\n${old.toString('base64')}\n`);
  const { secretKeys } = parseConfig({ POSTROOM_KEY_FILE: file });
  expect(secretKeys.map(({ bytes }) => bytes)).toEqual([fresh, old]);
  writeFileSync(file, `${fresh.toString('base64')}\nno key\n`);
  expect(() => parseConfig({ POSTROOM_KEY_FILE: file })).toThrow(/^POSTROOM_KEY_FILE: must be keys of 32 bytes/);
  rmSync(folder, { recursive: true });
});

test('DNS_SERVERS are addresses, with a port where it is not 53', () => {
  expect(parseConfig({ DNS_SERVERS: '127.0.0.1:5353, ::1, [2001:db8::53]:54' }).DNS_SERVERS).toEqual([
    { address: '127.0.0.1', port: 5353 },
    { address: '::1', port: 53 },
    { address: '2001:db8::53', port: 54 },
  ]);
  expect(() => parseConfig({ DNS_SERVERS: 'dns.example.com' })).toThrow(
    /DNS_SERVERS: dns.example.com must be an IP address/,
  );
});

test('a key may make 100 requests a second unless the environment says otherwise', () => {
  expect(parseConfig({}).RATE_LIMIT_PER_SECOND).toBe(100);
  expect(parseConfig({ RATE_LIMIT_PER_SECOND: '5' }).RATE_LIMIT_PER_SECOND).toBe(5);
});
