import { expect, test } from 'vitest';
import { storedEmailKey } from '../src/message-key.ts';

test('only an address beyond ASCII keeps a key in its message', () => {
  expect(storedEmailKey('Ada@Example.COM')).toBeNull();
  expect(storedEmailKey('Ada@Bücher.example')).toBe('ada@xn--bcher-kva.example');
});
