import { hash, hkdfSync, timingSafeEqual } from 'node:crypto';
import { config, isId } from '@postroom/platform';

/** Characters of the signature in a link: 96 bits. */
const SIGNATURE_LENGTH = 16;

/** Stands in the link of a test, which belongs to no recipient. */
export const TEST_TOKEN = 'test';

/**
 * HMAC-SHA256 by its definition (RFC 2104) over one-shot hashes: the key is made into the two pads once, where an `Hmac`
 * object would take twenty microseconds over it for each of a million messages.
 */
let pads: { inner: Buffer; outer: Buffer } | undefined;
const BLOCK = 64;

/** Links are signed with a key of their own, made of the secret key, so that a leaked one opens nothing else. */
function linkPads(): { inner: Buffer; outer: Buffer } {
  if (config.secretKey === undefined) {
    throw new Error('POSTROOM_SECRET_KEY (or POSTROOM_KEY_FILE) is not set, so unsubscribe links can not be signed.');
  }
  const key = Buffer.alloc(BLOCK);
  Buffer.from(hkdfSync('sha256', config.secretKey, '', 'postroom unsubscribe links', 32)).copy(key);
  return { inner: key.map((byte) => byte ^ 0x36) as Buffer, outer: key.map((byte) => byte ^ 0x5c) as Buffer };
}

function signatureOf(suffix: string): string {
  pads ??= linkPads();
  const inner = hash('sha256', Buffer.concat([pads.inner, Buffer.from(suffix, 'latin1')]), 'buffer');
  return hash('sha256', Buffer.concat([pads.outer, inner]), 'base64url').slice(0, SIGNATURE_LENGTH);
}

/** Where the recipient of a message unsubscribes. It names the message, and nobody can make one for another. */
export function unsubscribeUrl(messageId: string): string {
  const suffix = messageId.slice('eml_'.length);
  return `${config.PUBLIC_URL}/u/${suffix}-${signatureOf(suffix)}`;
}

/** The link of a message that is only shown or sent as a test. */
export const testUnsubscribeUrl = () => `${config.PUBLIC_URL}/u/${TEST_TOKEN}`;

/** The message that a link's token names; undefined when we did not make it. */
export function readToken(token: string): string | undefined {
  const [suffix = '', ...rest] = token.split('-');
  const given = Buffer.from(rest.join('-'));
  const messageId = `eml_${suffix}`;
  if (!isId('eml', messageId)) return undefined;
  const expected = Buffer.from(signatureOf(suffix));
  return given.length === expected.length && timingSafeEqual(given, expected) ? messageId : undefined;
}
