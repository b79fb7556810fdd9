import { generateKeyPair, type KeyObject, randomInt } from 'node:crypto';
import { promisify } from 'node:util';
import { secretColumn } from '@postroom/platform';
import { keyObject } from './key-objects.ts';

const generate = promisify(generateKeyPair);

/** A key pair as it is kept: the private half encrypted, the public one as DNS has it. */
export interface StoredKey {
  selector: string;
  /** An envelope of PKCS #8 in PEM. */
  privateKey: string;
  /** SubjectPublicKeyInfo in base64. */
  publicKey: string;
}

/** Makes an RSA key of 2048 bits: receivers do not verify Ed25519 yet, and 4096 bits fit into no UDP answer. */
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

/** The private key of a row. */
export function readDkimKey(domainId: string, { selector, privateKey }: Omit<StoredKey, 'publicKey'>): KeyObject {
  return keyObject(privateKey, (envelope) => dkimPrivateKey.decrypt(envelope, domainId, selector));
}

/** An envelope copied to another domain or selector does not open. */
const dkimPrivateKey = secretColumn('dkim_keys', 'private_key', {
  boundTo: ['domain_id', 'selector'],
  context: (domainId, selector) => `dkim ${domainId} ${selector}`,
});
