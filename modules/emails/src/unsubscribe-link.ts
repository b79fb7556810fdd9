import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { config, isId } from '@postroom/platform';

/** Characters of the signature in a link: 96 bits. */
const SIGNATURE_LENGTH = 16;

/** Stands in the link of a test, which belongs to no recipient. */
export const TEST_TOKEN = 'test';

let key: Buffer | undefined;

/** Links are signed with a key of their own, made of the secret key, so that a leaked one opens nothing else. */
function linkKey(): Buffer {
  if (config.secretKey === undefined) {
    throw new Error('POSTROOM_SECRET_KEY (or POSTROOM_KEY_FILE) is not set, so unsubscribe links can not be signed.');
  }
  key ??= Buffer.from(hkdfSync('sha256', config.secretKey, '', 'postroom unsubscribe links', 32));
  return key;
}

const signatureOf = (suffix: string) =>
  createHmac('sha256', linkKey()).update(suffix).digest('base64url').slice(0, SIGNATURE_LENGTH);

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
