import { expect, test } from 'vitest';
import { withoutSecrets } from '../src/without-secrets.ts';

test('a URL is recorded without its password and the values of its query', () => {
  expect(withoutSecrets('https://user:secret@example.com/hook?token=abc&x=1')).toBe(
    'https://user:…@example.com/hook?token=…&x=…',
  );
  expect(withoutSecrets('https://example.com/hook')).toBe('https://example.com/hook');
});
