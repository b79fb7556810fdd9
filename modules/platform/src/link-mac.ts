import { createSecretKey, hash, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import { type SecretKey } from './secret-keys.ts';
import { secretKeysFor } from './secrets.ts';

const BLOCK = 64;
/** Texts up to this length, which are nearly all, are written into a buffer that stays. */
const SHORT = 256;
/** That a character stands for. */
const BITS = { base64url: 6, hex: 4 } as const;

/** Signs what our links and return addresses name, so that nobody can make one up. */
export interface Mac {
  /** The first bytes of a SHA-256; `text` is of one byte a character. */
  sign: (text: string, bytes: number, encoding: 'base64url' | 'hex') => string;
  /** Whether `given` is what a signature of this text begins with, by any of our keys; told in constant time. */
  verify: (text: string, given: Buffer) => boolean;
}

/**
 * HMAC-SHA256 by its definition (RFC 2104) over one-shot hashes: the key is made into the two pads once, where an `Hmac`
 * object would take eighteen microseconds over it for each of a million messages, and the texts are written behind them.
 * Each purpose has a key of its own, made of the secret key, so that a leaked one opens nothing else.
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
  /** What is hashed, by its length: to cut a buffer costs more than to hash it. */
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

/** Keys to encrypt and decrypt with for one purpose. */
export interface CipherKeys {
  /** The one that encrypts now. */
  current: () => KeyObject;
  /** What `decrypt` makes with the first of our keys with which it does not throw; undefined when it throws with each. */
  open: <Opened>(decrypt: (key: KeyObject) => Opened) => Opened | undefined;
}

/** They are made once: to make one of bytes for each message takes three times as long as to encrypt. */
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
          // another key's, or made up
        }
      }
      return undefined;
    },
  };
}

/** Keys for one purpose, made of each secret key, the one in use first. @throws Error when there is none. */
const keysFor = (purpose: string): Buffer[] =>
  secretKeysFor(`which ${purpose} need`).map(({ bytes }: SecretKey) =>
    Buffer.from(hkdfSync('sha256', bytes, '', purpose, 32)),
  );

/** The two pads, each with room for what is hashed behind it. */
function padsOf(secret: Buffer): { inner: Buffer; outer: Buffer } {
  const key = Buffer.alloc(BLOCK);
  secret.copy(key);
  const inner = Buffer.alloc(BLOCK + SHORT);
  const outer = Buffer.alloc(BLOCK + 32);
  inner.set(key.map((byte) => byte ^ 0x36));
  outer.set(key.map((byte) => byte ^ 0x5c));
  return { inner, outer };
}
