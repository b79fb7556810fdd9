import { expect, test } from 'vitest';
import { readSecretKeys } from '@postroom/settings';
import { secretColumn } from '../src/secrets.ts';

const column = secretColumn('made_up', 'secret');

test('a secret at rest does not show itself, and comes back whole', () => {
  const envelope = column.encrypt('whsec_abc', 'whe_1');
  expect(envelope).toMatch(/^v2:[0-9a-f]{8}:/);
  expect(envelope).not.toContain('whsec');
  expect(column.decrypt(envelope, 'whe_1')).toBe('whsec_abc');
  expect(column.encrypt('whsec_abc', 'whe_1')).not.toBe(envelope);
});

test('a secret that was copied to another row, or changed, does not decrypt', () => {
  const envelope = column.encrypt('whsec_abc', 'whe_1');
  expect(() => column.decrypt(envelope, 'whe_2')).toThrow();
  const [version, id, body = ''] = envelope.split(':');
  const bytes = Buffer.from(body, 'base64');
  bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
  expect(() => column.decrypt(`${version}:${id}:${bytes.toString('base64')}`, 'whe_1')).toThrow();
});

test('an envelope of before keys had names opens, and one of a key that is not set names the settings', () => {
  const [, id, body] = column.encrypt('whsec_abc', 'whe_1').split(':');
  expect(column.decrypt(`v1:${body}`, 'whe_1')).toBe('whsec_abc');
  const other = id === '00000000' ? '00000001' : '00000000';
  expect(() => column.decrypt(`v2:${other}:${body}`, 'whe_1')).toThrow(
    new RegExp(`key ${other}, which is not in POSTROOM_SECRET_KEY .* and POSTROOM_SECRET_KEY_PREVIOUS`),
  );
});

const key = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const idOf = (byte: number) => readSecretKeys({ POSTROOM_SECRET_KEY: key(byte) })[0]?.id;

test('the first key is the one in use, whatever else is set, and each is there once', () => {
  const keys = readSecretKeys({
    POSTROOM_SECRET_KEY: key(2),
    POSTROOM_SECRET_KEY_PREVIOUS: `${key(1)}, ${key(2)},${key(0)}`,
  });
  expect(keys.map(({ id }) => id)).toEqual([idOf(2), idOf(1), idOf(0)]);
});

test.each([
  ['POSTROOM_SECRET_KEY', { POSTROOM_SECRET_KEY: 'c2hvcnQ=' }],
  ['POSTROOM_SECRET_KEY_PREVIOUS', { POSTROOM_SECRET_KEY: key(1), POSTROOM_SECRET_KEY_PREVIOUS: `${key(2)},c2hvcnQ=` }],
  ['POSTROOM_SECRET_KEY_PREVIOUS', { POSTROOM_SECRET_KEY_PREVIOUS: key(2) }],
])('a key that cannot be one is refused by the name of its setting: %s', (name, settings) => {
  expect(() => readSecretKeys(settings)).toThrow(new RegExp(`^${name}: `));
});
