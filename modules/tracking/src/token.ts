import { createCipheriv, createDecipheriv } from 'node:crypto';
import { isId } from '@postroom/platform';
import { cipherKeysFor, macFor } from '@postroom/platform';

/** Bytes of the signature in a token: 96 bits, sixteen characters. */
const SIGNATURE_BYTES = 12;
const SIGNATURE_LENGTH = 16;
const SUFFIX_LENGTH = 26;

const mac = macFor('postroom tracking links');
const nonceMac = macFor('postroom tracking values: nonce');

/**
 * What the pixel and the links of a message carry: the message's id and a signature. One for all of them, since the number
 * of a link behind it leads only to what the sender put into the same mail.
 */
export function trackingToken(messageId: string): string {
  const suffix = messageId.slice('eml_'.length);
  return suffix + mac.sign(suffix, SIGNATURE_BYTES, 'base64url');
}

/** The message that a token names; undefined when we did not make it. */
export function readTrackingToken(token: string): string | undefined {
  if (token.length !== SUFFIX_LENGTH + SIGNATURE_LENGTH || !/^[\w-]+$/.test(token)) return undefined;
  const suffix = token.slice(0, SUFFIX_LENGTH);
  const messageId = `eml_${suffix}`;
  if (!isId('eml', messageId)) return undefined;
  return mac.verify(suffix, Buffer.from(token.slice(SUFFIX_LENGTH), 'base64url')) ? messageId : undefined;
}

const keys = cipherKeysFor('postroom tracking values');

const NONCE = 12;
const TAG = 16;

/**
 * Encrypts the values that a recipient's own link holds, so that the link leads where it led when the mail was sent, and
 * shows nothing of it. They are bound to the message and the link, and the nonce is made of what is sealed, so that the
 * same link is the same each time it is made.
 */
export function sealValues(messageId: string, link: number, values: readonly string[]): string {
  const text = JSON.stringify(values);
  const bound = `${messageId} ${link}`;
  const nonce = Buffer.from(nonceMac.sign(`${bound} ${Buffer.from(text).toString('latin1')}`, NONCE, 'hex'), 'hex');
  const cipher = createCipheriv('aes-256-gcm', keys.current(), nonce).setAAD(Buffer.from(bound));
  const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return sealed.toString('base64url');
}

/** What `sealValues` sealed for this message and link; undefined for anything else. */
export function unsealValues(messageId: string, link: number, sealed: string): string[] | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length < NONCE + TAG) return undefined;
  return keys.open((key) => {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE))
      .setAAD(Buffer.from(`${messageId} ${link}`))
      .setAuthTag(bytes.subarray(-TAG));
    const text = Buffer.concat([decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()]).toString('utf8');
    return JSON.parse(text) as string[];
  });
}
