import { createPrivateKey, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';

type ToPem = (text: string) => string;

const cache = new LRUCache<string, KeyObject, ToPem>({
  max: 1_000,
  memoMethod: (text, _stale, { context: toPem }) => createPrivateKey(toPem(text)),
});

/**
 * Parses a private key from PEM, or from text that `toPem` converts to PEM. Parsing costs more than signing, so the
 * last thousand keys are cached.
 */
export function keyObject(text: string, toPem: ToPem = (pem) => pem): KeyObject {
  return cache.memo(text, { context: toPem });
}
