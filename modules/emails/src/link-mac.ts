import { createSecretKey, hash, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import { config } from '@postroom/platform';

const BLOCK = 64;
/** Texts up to this length, which are nearly all, are written into a buffer that stays. */
const SHORT = 256;
/** That a character stands for. */
const BITS = { base64url: 6, hex: 4 } as const;

/** Signs what our links and return addresses name, so that nobody can make one up. */
export interface Mac {
  /** The first bytes of a SHA-256; `text` is of one byte a character. */
  sign: (text: string, bytes: number, encoding: 'base64url' | 'hex') => string;
  /** Whether `given` is what a signature of this text begins with; told in constant time. */
  verify: (text: string, given: Buffer) => boolean;
}

/**
 * HMAC-SHA256 by its definition (RFC 2104) over one-shot hashes: the key is made into the two pads once, where an `Hmac`
 * object would take eighteen microseconds over it for each of a million messages, and the texts are written behind them.
 * Each purpose has a key of its own, made of the secret key, so that a leaked one opens nothing else.
 */
export function macFor(purpose: string): Mac {
  let pads: { inner: Buffer; outer: Buffer } | undefined;
  /** What is hashed, by its length: to cut a buffer costs more than to hash it. */
  const cuts: Buffer[] = [];
  const digest = (text: string, encoding: 'base64url' | 'hex'): string => {
    pads ??= padsOf(purpose);
    const { inner, outer } = pads;
    inner.write(text, BLOCK, 'latin1');
    const first =
      text.length > SHORT
        ? Buffer.concat([inner.subarray(0, BLOCK), Buffer.from(text, 'latin1')])
        : (cuts[text.length] ??= inner.subarray(0, BLOCK + text.length));
    outer.write(hash('sha256', first, 'binary'), BLOCK, 'latin1');
    return hash('sha256', outer, encoding);
  };
  return {
    sign: (text, bytes, encoding) => digest(text, encoding).slice(0, Math.ceil((bytes * 8) / BITS[encoding])),
    verify: (text, given) =>
      given.length > 0 && timingSafeEqual(Buffer.from(digest(text, 'hex'), 'hex').subarray(0, given.length), given),
  };
}

/** A key to encrypt with for one purpose: to make one of bytes for each message takes three times as long as to encrypt. */
export const cipherKeyFor = (purpose: string): KeyObject => createSecretKey(keyFor(purpose));

/** A key for one purpose, made of the secret key. @throws Error when there is none. */
function keyFor(purpose: string): Buffer {
  if (config.secretKey === undefined) {
    throw new Error(`POSTROOM_SECRET_KEY (or POSTROOM_KEY_FILE) is not set, which ${purpose} need.`);
  }
  return Buffer.from(hkdfSync('sha256', config.secretKey, '', purpose, 32));
}

/** The two pads, each with room for what is hashed behind it. */
function padsOf(purpose: string): { inner: Buffer; outer: Buffer } {
  const key = Buffer.alloc(BLOCK);
  keyFor(purpose).copy(key);
  const inner = Buffer.alloc(BLOCK + SHORT);
  const outer = Buffer.alloc(BLOCK + 32);
  inner.set(key.map((byte) => byte ^ 0x36));
  outer.set(key.map((byte) => byte ^ 0x5c));
  return { inner, outer };
}
