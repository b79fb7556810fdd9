import { createCipheriv, createDecipheriv } from 'node:crypto';
import { isId } from '@postroom/platform';
import { cipherKeysFor, macFor } from '@postroom/platform';

/** Length of the signature in a token: 12 bytes (96 bits), or 16 characters. */
const SIGNATURE_BYTES = 12;
const SIGNATURE_LENGTH = 16;
const SUFFIX_LENGTH = 26;

const mac = macFor('postroom tracking links');
const nonceMac = macFor('postroom tracking values: nonce');

/**
 * The token in the pixel and links of a message: its id and a signature. One token serves all links, since a link number
 * can only lead to another link in the same mail.
 */
export function trackingToken(messageId: string): string {
  const suffix = messageId.slice('eml_'.length);
  return suffix + mac.sign(suffix, SIGNATURE_BYTES, 'base64url');
}

/** The message id in a token; undefined if the token is not authentic. */
export function readTrackingToken(token: string): string | undefined {
  if (token.length !== SUFFIX_LENGTH + SIGNATURE_LENGTH || !/^[\w-]+$/.test(token)) return undefined;
  const suffix = token.slice(0, SUFFIX_LENGTH);
  const messageId = `eml_${suffix}`;
  if (!isId('eml', messageId)) return undefined;
  return mac.verify(suffix, Buffer.from(token.slice(SUFFIX_LENGTH), 'base64url')) ? messageId : undefined;
}

const keys = cipherKeysFor('postroom tracking values');

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts the placeholder values of a personal link, so that its target stays fixed and hidden. The values are bound to
 * the message and the link. The nonce is derived from the plaintext, so the result is deterministic.
 */
export function sealValues(messageId: string, link: number, values: readonly string[]): string {
  const text = JSON.stringify(values);
  const bound = `${messageId} ${link}`;
  const nonce = Buffer.from(
    nonceMac.sign(`${bound} ${Buffer.from(text).toString('latin1')}`, NONCE_BYTES, 'hex'),
    'hex',
  );
  const cipher = createCipheriv('aes-256-gcm', keys.current(), nonce).setAAD(Buffer.from(bound));
  const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return sealed.toString('base64url');
}

/** Decrypts the result of `sealValues` for the same message and link; undefined for anything else. */
export function unsealValues(messageId: string, link: number, sealed: string): string[] | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
  return keys.open((key) => {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(`${messageId} ${link}`))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString(
      'utf8',
    );
    return JSON.parse(text) as string[];
  });
}
