import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { config } from './config.ts';

const VERSION = 'v1';

/**
 * Encrypts a secret for a column: `v1:` and base64 of nonce, tag and ciphertext (AES-256-GCM). `context`, such as the
 * row's id, is authenticated: a value copied to another row does not decrypt.
 */
export function encryptSecret(secret: string, context: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key(), nonce).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return `${VERSION}:${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')}`;
}

/** The inverse of `encryptSecret`; throws when the key, the context or the text is not the one it was made with. */
export function decryptSecret(envelope: string, context: string): string {
  const [version, body] = envelope.split(':');
  if (version !== VERSION || body === undefined) throw new Error('A stored secret has an unknown envelope version.');
  const bytes = Buffer.from(body, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', key(), bytes.subarray(0, 12));
  decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
}

function key(): Buffer {
  if (config.secretKey === undefined) {
    throw new Error(
      'POSTROOM_SECRET_KEY (or POSTROOM_KEY_FILE) is not set, so secrets can be neither stored nor read.',
    );
  }
  return config.secretKey;
}
