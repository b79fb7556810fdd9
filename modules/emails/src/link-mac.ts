import { hash, hkdfSync, timingSafeEqual } from 'node:crypto';
import { config } from '@postroom/platform';

const BLOCK = 64;

/** Signs what our links and return addresses name, so that nobody can make one up. */
export interface Mac {
  /** The signature, in bytes: the first of a SHA-256. */
  sign: (text: string) => Buffer;
  /** Whether `given` is what `sign` begins with for this text; told in constant time. */
  verify: (text: string, given: Buffer) => boolean;
}

/**
 * HMAC-SHA256 by its definition (RFC 2104) over one-shot hashes: the key is made into the two pads once, where an `Hmac`
 * object would take twenty microseconds over it for each of a million messages. Each purpose has a key of its own, made of
 * the secret key, so that a leaked one opens nothing else.
 */
export function macFor(purpose: string): Mac {
  let pads: { inner: Buffer; outer: Buffer } | undefined;
  const sign = (text: string) => {
    pads ??= padsOf(purpose);
    const inner = hash('sha256', Buffer.concat([pads.inner, Buffer.from(text, 'latin1')]), 'buffer');
    return hash('sha256', Buffer.concat([pads.outer, inner]), 'buffer');
  };
  return {
    sign,
    verify: (text, given) => given.length > 0 && timingSafeEqual(sign(text).subarray(0, given.length), given),
  };
}

/** A key for one purpose, made of the secret key. @throws Error when there is none. */
export function keyFor(purpose: string): Buffer {
  if (config.secretKey === undefined) {
    throw new Error(`POSTROOM_SECRET_KEY (or POSTROOM_KEY_FILE) is not set, which ${purpose} need.`);
  }
  return Buffer.from(hkdfSync('sha256', config.secretKey, '', purpose, 32));
}

function padsOf(purpose: string): { inner: Buffer; outer: Buffer } {
  const key = Buffer.alloc(BLOCK);
  keyFor(purpose).copy(key);
  return { inner: key.map((byte) => byte ^ 0x36) as Buffer, outer: key.map((byte) => byte ^ 0x5c) as Buffer };
}
