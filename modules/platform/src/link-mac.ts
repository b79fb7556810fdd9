import { createSecretKey, hash, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import { type SecretKey } from '@postroom/settings';
import { secretKeysFor } from './secrets.ts';

const BLOCK = 64;
/** Texts up to this length, nearly all of them, reuse one buffer. */
const SHORT = 256;
/** That a character stands for. */
const BITS = { base64url: 6, hex: 4 } as const;

/** Signs the contents of our links and return addresses, so that they can't be forged. */
export interface Mac {
  /** Returns the first bytes of HMAC-SHA256. `text` must have one byte per character. */
  sign: (text: string, bytes: number, encoding: 'base64url' | 'hex') => string;
  /** Verifies a truncated signature against every key, in constant time. */
  verify: (text: string, given: Buffer) => boolean;
}

/**
 * HMAC-SHA256 from its definition (RFC 2104) over one-shot hashes. The two pads are computed once, whereas an
 * `Hmac` object costs 18 µs for each of a million messages. Each purpose derives its own key from the secret key,
 * so a leaked one compromises nothing else.
 */
export function macFor(purpose: string): Mac {
  let digests: Digest[] | undefined;
  const all = () => (digests ??= keysFor(purpose).map(digestBy));
  return {
    sign: (text, bytes, encoding) =>
      (all()[0] as Digest)(text, encoding).slice(0, Math.ceil((bytes * 8) / BITS[encoding])),
    verify: (text, given) =>
      given.length > 0 &&
      all().some((digest) => timingSafeEqual(Buffer.from(digest(text, 'hex'), 'hex').subarray(0, given.length), given)),
  };
}

type Digest = (text: string, encoding: 'base64url' | 'hex') => string;

function digestBy(key: Buffer): Digest {
  const { inner, outer } = padsOf(key);
  /** Input buffers by length: slicing a buffer costs more than hashing it. */
  const cuts: Buffer[] = [];
  return (text, encoding) => {
    inner.write(text, BLOCK, 'latin1');
    const first =
      text.length > SHORT
        ? Buffer.concat([inner.subarray(0, BLOCK), Buffer.from(text, 'latin1')])
        : (cuts[text.length] ??= inner.subarray(0, BLOCK + text.length));
    outer.write(hash('sha256', first, 'binary'), BLOCK, 'latin1');
    return hash('sha256', outer, encoding);
  };
}

/** Encryption keys for one purpose. */
export interface CipherKeys {
  /** The current key, which encrypts. */
  current: () => KeyObject;
  /** Returns the result of the first key for which `decrypt` does not throw; undefined if all throw. */
  open: <Opened>(decrypt: (key: KeyObject) => Opened) => Opened | undefined;
}

/** Key objects are created once: creating one per message takes three times as long as encrypting. */
export function cipherKeysFor(purpose: string): CipherKeys {
  let keys: KeyObject[] | undefined;
  const all = () => (keys ??= keysFor(purpose).map((key) => createSecretKey(key)));
  return {
    current: () => all()[0] as KeyObject,
    open: (decrypt) => {
      for (const key of all()) {
        try {
          return decrypt(key);
        } catch {
          // encrypted with another key, or forged
        }
      }
      return undefined;
    },
  };
}

/** Derives the keys for one purpose, current key first. @throws Error if no secret key is set. */
const keysFor = (purpose: string): Buffer[] =>
  secretKeysFor(`which ${purpose} need`).map(({ bytes }: SecretKey) =>
    Buffer.from(hkdfSync('sha256', bytes, '', purpose, 32)),
  );

/** The two pads, each with room for the message. */
function padsOf(secret: Buffer): { inner: Buffer; outer: Buffer } {
  const key = Buffer.alloc(BLOCK);
  secret.copy(key);
  const inner = Buffer.alloc(BLOCK + SHORT);
  const outer = Buffer.alloc(BLOCK + 32);
  inner.set(key.map((byte) => byte ^ 0x36));
  outer.set(key.map((byte) => byte ^ 0x5c));
  return { inner, outer };
}
