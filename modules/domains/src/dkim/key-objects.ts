import { createPrivateKey, type KeyObject } from 'node:crypto';

const cache = new Map<string, KeyObject>();
const MAX_ENTRIES = 1000;

/**
 * Parses a private key from PEM, or from text that `toPem` converts to PEM. Parsing costs more than signing, so the
 * last thousand keys are cached.
 */
export function keyObject(text: string, toPem: (text: string) => string = (pem) => pem): KeyObject {
  const cached = cache.get(text);
  if (cached !== undefined) return cached;
  const key = createPrivateKey(toPem(text));
  const [oldest] = cache.keys();
  if (cache.size >= MAX_ENTRIES && oldest !== undefined) cache.delete(oldest);
  cache.set(text, key);
  return key;
}
