import { generateKeyPair, type KeyObject, randomInt } from 'node:crypto';
import { promisify } from 'node:util';
import { secretColumn } from '@postroom/platform';
import { keyObject } from './key-objects.ts';

const generate = promisify(generateKeyPair);

/** A key pair as stored: the private key encrypted, the public key as in DNS. */
export interface StoredKey {
  selector: string;
  /** Encrypted PKCS #8 in PEM. */
  privateKey: string;
  /** SubjectPublicKeyInfo in base64. */
  publicKey: string;
}

/**
 * Generates a 2048-bit RSA key. Receivers do not verify Ed25519 yet, and a 4096-bit key does not fit into a UDP
 * response.
 */
export async function createDkimKey(domainId: string): Promise<StoredKey> {
  const { publicKey, privateKey } = await generate('rsa', { modulusLength: 2048 });
  const selector = `pr${randomInt(0x7fffffff).toString(36).padStart(6, '0')}`;
  return {
    selector,
    privateKey: dkimPrivateKey.encrypt(
      privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      domainId,
      selector,
    ),
    publicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
  };
}

/** Decrypts a stored private key. */
export function readDkimKey(domainId: string, { selector, privateKey }: Omit<StoredKey, 'publicKey'>): KeyObject {
  return keyObject(privateKey, (envelope) => dkimPrivateKey.decrypt(envelope, domainId, selector));
}

/** Bound to domain and selector: an envelope copied to another row cannot be decrypted. */
const dkimPrivateKey = secretColumn('dkim_keys', 'private_key', {
  boundTo: ['domain_id', 'selector'],
  context: (domainId, selector) => `dkim ${domainId} ${selector}`,
});
