import { expect, test } from 'vitest';
import { decryptSecret, encryptSecret } from './secrets.ts';

test('a secret at rest does not show itself, and comes back whole', () => {
  const envelope = encryptSecret('whsec_abc', 'whe_1');
  expect(envelope).toMatch(/^v1:/);
  expect(envelope).not.toContain('whsec');
  expect(decryptSecret(envelope, 'whe_1')).toBe('whsec_abc');
  expect(encryptSecret('whsec_abc', 'whe_1')).not.toBe(envelope);
});

test('a secret that was copied to another row, or changed, does not decrypt', () => {
  const envelope = encryptSecret('whsec_abc', 'whe_1');
  expect(() => decryptSecret(envelope, 'whe_2')).toThrow();
  const bytes = Buffer.from(envelope.slice(3), 'base64');
  bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
  expect(() => decryptSecret(`v1:${bytes.toString('base64')}`, 'whe_1')).toThrow();
});
