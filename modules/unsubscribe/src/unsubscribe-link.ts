import { createCipheriv, createDecipheriv } from 'node:crypto';
import { config, isId } from '@postroom/platform';
import { cipherKeysFor, macFor } from '@postroom/platform';

/** The token in links of test mail, which has no recipient. */
export const TEST_TOKEN = 'test';

/** The recipient of a message. */
export interface MessageRecipient {
  projectId: string;
  email: string;
}

/** A decoded link token. It contains the recipient, since the row of an old message may have been deleted. */
export interface UnsubscribeToken extends Partial<MessageRecipient> {
  messageId: string;
}

const SUFFIX_LENGTH = 26;
/** Length of the authentication tag in bytes: 96 bits. */
const TAG_BYTES = 12;

const keys = cipherKeysFor('postroom unsubscribe links: addresses');

/**
 * The unsubscribe link of a message. It never expires. It names the message and contains the project and the address,
 * encrypted and bound to the message id, so they can be neither read nor forged. The message id is also the nonce: it is
 * used once, because the plaintext of a message never changes.
 */
export function unsubscribeUrl(messageId: string, { projectId, email }: MessageRecipient): string {
  const suffix = messageId.slice('eml_'.length);
  const nonce = Buffer.from(suffix, 'latin1');
  const cipher = createCipheriv('aes-256-gcm', keys.current(), nonce, { authTagLength: TAG_BYTES });
  const project = projectId.slice('prj_'.length);
  const sealed = Buffer.concat([cipher.update(project + email, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${config.PUBLIC_URL}/u/${suffix}-${sealed.toString('base64url')}`;
}

/** The unsubscribe link in previews and test mail. */
export const testUnsubscribeUrl = () => `${config.PUBLIC_URL}/u/${TEST_TOKEN}`;

/** The web version of a message: the page that shows it in a browser. */
export const webVersionUrl = (unsubscribeLink: string) => unsubscribeLink + WEB_VERSION;

const WEB_VERSION = '/view';

/** The token in the path of a web version; undefined if it is another path. */
export const webVersionToken = (path: string): string | undefined =>
  path.startsWith('/u/') && path.endsWith(WEB_VERSION) ? path.slice('/u/'.length, -WEB_VERSION.length) : undefined;

/** Decodes the token of a link; undefined if it is not authentic. */
export function readToken(token: string): UnsubscribeToken | undefined {
  const [suffix, encoded] = [token.slice(0, SUFFIX_LENGTH), token.slice(SUFFIX_LENGTH + 1)];
  const messageId = `eml_${suffix}`;
  if (!isId('eml', messageId) || token[SUFFIX_LENGTH] !== '-' || !/^[\w-]+$/.test(encoded)) return undefined;
  const bytes = Buffer.from(encoded, 'base64url');
  // Node ignores invalid base64url characters, so reject any token that does not round-trip.
  if (bytes.toString('base64url') !== encoded) return undefined;
  if (encoded.length === SIGNATURE_LENGTH) return mac.verify(suffix, bytes) ? { messageId } : undefined;
  const recipient = unseal(suffix, bytes);
  return recipient === undefined ? undefined : { messageId, ...recipient };
}

/** Links made before they contained the address have a signature of this length instead. */
const SIGNATURE_LENGTH = 16;
const mac = macFor('postroom unsubscribe links');

function unseal(suffix: string, sealed: Buffer): MessageRecipient | undefined {
  if (sealed.length <= SUFFIX_LENGTH + TAG_BYTES) return undefined;
  return keys.open((key) => {
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(suffix, 'latin1'), {
      authTagLength: TAG_BYTES,
    }).setAuthTag(sealed.subarray(-TAG_BYTES));
    const text = Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]).toString('utf8');
    return { projectId: `prj_${text.slice(0, SUFFIX_LENGTH)}`, email: text.slice(SUFFIX_LENGTH) };
  });
}

/** Finds an unsubscribe link of the message in a text, such as a bounce with the original headers, and returns its recipient. */
export function findRecipient(text: string, messageId: string): MessageRecipient | undefined {
  const suffix = messageId.slice('eml_'.length);
  for (const [, sealed = ''] of text.matchAll(new RegExp(`/u/${suffix}-([\\w-]+)`, 'g'))) {
    const recipient = unseal(suffix, Buffer.from(sealed, 'base64url'));
    if (recipient !== undefined) return recipient;
  }
  return undefined;
}
