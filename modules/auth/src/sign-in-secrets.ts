import { hkdfSync } from 'node:crypto';
import { registerSecretColumn, SECRET_KEY_SETTINGS, type SecretKey, secretKeysFor } from '@postroom/platform';
import { type SecretConfig, symmetricDecrypt, symmetricEncrypt } from 'better-auth/crypto';

/**
 * The secrets with which the sign-in library signs cookies and encrypts second factors, derived from each secret
 * key.
 */
export function signInSecrets() {
  const keys = secretKeysFor('so nobody can sign in').map((key) => ({ version: versionOf(key), value: secretOf(key) }));
  // Values encrypted before the library named keys use the oldest one, since changing keys re-encrypts everything.
  const oldest = keys.at(-1) as { value: string };
  return { secrets: keys, secret: oldest.value };
}

const secretOf = ({ bytes }: SecretKey) =>
  Buffer.from(hkdfSync('sha256', bytes, '', 'postroom sign-in', 32)).toString('base64');

/** The library counts keys; ours have ids, which are numbers too. */
const versionOf = ({ id }: SecretKey) => Number.parseInt(id, 16);

const currentVersion = () => versionOf(secretKeysFor('so nobody can sign in')[0]);

/** The keys that second factors are encrypted with. */
export function secretConfig(): SecretConfig {
  const { secrets, secret } = signInSecrets();
  const keys = new Map(secrets.map(({ version, value }) => [version, value]));
  return { keys, currentVersion: currentVersion(), legacySecret: secret };
}

for (const column of ['secret', 'backup_codes']) {
  registerSecretColumn({
    table: 'two_factors',
    column,
    key: ['id'],
    current: () => `$ba$${currentVersion()}$`,
    encrypt: (secret) => symmetricEncrypt({ key: secretConfig(), data: secret }),
    decrypt: (sealed) => symmetricDecrypt({ key: secretConfig(), data: sealed }).catch(explain),
  });
}

/** The library says that it has no such key, or that a tag is wrong. */
function explain(): never {
  throw new Error(`A second factor was encrypted with a key that is not in ${SECRET_KEY_SETTINGS}.`);
}
