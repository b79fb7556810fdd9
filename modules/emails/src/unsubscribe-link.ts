import { config, isId } from '@postroom/platform';
import { macFor } from './link-mac.ts';

/** Bytes of the signature in a link: 96 bits, sixteen characters. */
const SIGNATURE_BYTES = 12;

/** Stands in the link of a test, which belongs to no recipient. */
export const TEST_TOKEN = 'test';

const mac = macFor('postroom unsubscribe links');

/** Where the recipient of a message unsubscribes. It names the message, and nobody can make one for another. */
export function unsubscribeUrl(messageId: string): string {
  const suffix = messageId.slice('eml_'.length);
  return `${config.PUBLIC_URL}/u/${suffix}-${mac.sign(suffix).toString('base64url', 0, SIGNATURE_BYTES)}`;
}

/** The link of a message that is only shown or sent as a test. */
export const testUnsubscribeUrl = () => `${config.PUBLIC_URL}/u/${TEST_TOKEN}`;

/** The message that a link's token names; undefined when we did not make it. */
export function readToken(token: string): string | undefined {
  const [suffix = '', ...rest] = token.split('-');
  const messageId = `eml_${suffix}`;
  const given = rest.join('-');
  if (!isId('eml', messageId) || !/^[\w-]{16}$/.test(given)) return undefined;
  return mac.verify(suffix, Buffer.from(given, 'base64url')) ? messageId : undefined;
}
