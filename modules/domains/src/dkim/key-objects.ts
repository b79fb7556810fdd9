import { createPrivateKey, type KeyObject } from 'node:crypto';

const kept = new Map<string, KeyObject>();
const MAX_KEPT = 1000;

/**
 * The private key that a text stands for: PEM, or with `toPem` anything that it turns into PEM. Reading a key costs more
 * than a signature, so the last thousand are kept.
 */
export function keyObject(text: string, toPem: (text: string) => string = (pem) => pem): KeyObject {
  const known = kept.get(text);
  if (known !== undefined) return known;
  const key = createPrivateKey(toPem(text));
  const [oldest] = kept.keys();
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  kept.set(text, key);
  return key;
}
