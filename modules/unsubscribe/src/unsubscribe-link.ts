import { createCipheriv, createDecipheriv } from 'node:crypto';
import { config, isId } from '@postroom/platform';
import { cipherKeysFor, macFor } from '@postroom/platform';

/** Stands in the link of a test, which belongs to no recipient. */
export const TEST_TOKEN = 'test';

/** Whom a message went to. */
export interface Addressed {
  projectId: string;
  email: string;
}

/** What a link names. It says itself whom its message went to, since the row of an old one has been deleted. */
export interface UnsubscribeToken extends Partial<Addressed> {
  messageId: string;
}

const SUFFIX_LENGTH = 26;
/** Bytes of the tag that nobody can make up: 96 bits. */
const TAG = 12;

const keys = cipherKeysFor('postroom unsubscribe links: addresses');

/**
 * Where the recipient of a message unsubscribes, however old the mail is. The link names the message, and holds the project
 * and the address, encrypted and bound to it; nobody can read them, or make one for another. The nonce is the message's id,
 * whose row says the same each time.
 */
export function unsubscribeUrl(messageId: string, { projectId, email }: Addressed): string {
  const suffix = messageId.slice('eml_'.length);
  const nonce = Buffer.from(suffix, 'latin1');
  const cipher = createCipheriv('aes-256-gcm', keys.current(), nonce, { authTagLength: TAG });
  const project = projectId.slice('prj_'.length);
  const sealed = Buffer.concat([cipher.update(project + email, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${config.PUBLIC_URL}/u/${suffix}-${sealed.toString('base64url')}`;
}

/** The link of a message that is only shown or sent as a test. */
export const testUnsubscribeUrl = () => `${config.PUBLIC_URL}/u/${TEST_TOKEN}`;

/** What a link's token names; undefined when we did not make it. */
export function readToken(token: string): UnsubscribeToken | undefined {
  const [suffix, given] = [token.slice(0, SUFFIX_LENGTH), token.slice(SUFFIX_LENGTH + 1)];
  const messageId = `eml_${suffix}`;
  if (!isId('eml', messageId) || token[SUFFIX_LENGTH] !== '-' || !/^[\w-]+$/.test(given)) return undefined;
  const bytes = Buffer.from(given, 'base64url');
  // Node passes over what does not belong there: a link is ours as it stands, or not.
  if (bytes.toString('base64url') !== given) return undefined;
  if (given.length === SIGNATURE_LENGTH) return mac.verify(suffix, bytes) ? { messageId } : undefined;
  const addressed = unseal(suffix, bytes);
  return addressed === undefined ? undefined : { messageId, ...addressed };
}

/** Links of before they held an address have a signature there. */
const SIGNATURE_LENGTH = 16;
const mac = macFor('postroom unsubscribe links');

function unseal(suffix: string, sealed: Buffer): Addressed | undefined {
  if (sealed.length <= SUFFIX_LENGTH + TAG) return undefined;
  return keys.open((key) => {
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(suffix, 'latin1'), {
      authTagLength: TAG,
    }).setAuthTag(sealed.subarray(-TAG));
    const text = Buffer.concat([decipher.update(sealed.subarray(0, -TAG)), decipher.final()]).toString('utf8');
    return { projectId: `prj_${text.slice(0, SUFFIX_LENGTH)}`, email: text.slice(SUFFIX_LENGTH) };
  });
}

/** Whom a message went to, as a link of its own says that stands in a text, such as a mail that came back with its headers. */
export function findAddressed(text: string, messageId: string): Addressed | undefined {
  const suffix = messageId.slice('eml_'.length);
  for (const [, sealed = ''] of text.matchAll(new RegExp(`/u/${suffix}-([\\w-]+)`, 'g'))) {
    const addressed = unseal(suffix, Buffer.from(sealed, 'base64url'));
    if (addressed !== undefined) return addressed;
  }
  return undefined;
}
