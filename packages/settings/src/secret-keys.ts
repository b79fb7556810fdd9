import { hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A key that encrypts secrets at rest. */
export interface SecretKey {
  /** Eight hex digits derived from the key. Envelopes carry it; it reveals nothing about the key. */
  id: string;
  bytes: Buffer;
}

/** The settings that hold keys, for error messages. */
export const SECRET_KEY_SETTINGS = 'POSTROOM_SECRET_KEY (or POSTROOM_KEY_FILE) and POSTROOM_SECRET_KEY_PREVIOUS';

/**
 * The configured keys: the current key, which encrypts, then previous keys, which only decrypt. The first line of a
 * key file is the current key, the others are previous keys.
 * @throws Error naming an invalid setting.
 */
export function readSecretKeys(settings: {
  POSTROOM_SECRET_KEY?: string | undefined;
  POSTROOM_KEY_FILE?: string | undefined;
  POSTROOM_SECRET_KEY_PREVIOUS?: string | undefined;
}): SecretKey[] {
  const { POSTROOM_SECRET_KEY: given, POSTROOM_KEY_FILE: file, POSTROOM_SECRET_KEY_PREVIOUS: previous } = settings;
  const keys =
    given !== undefined
      ? [toKey('POSTROOM_SECRET_KEY', given)]
      : file === undefined
        ? []
        : readKeyFile(file)
            .trim()
            .split('\n')
            .map((line) => toKey('POSTROOM_KEY_FILE', line));
  const before = previous?.split(',').map((text) => toKey('POSTROOM_SECRET_KEY_PREVIOUS', text)) ?? [];
  if (keys.length === 0 && before.length > 0)
    throw new Error('POSTROOM_SECRET_KEY_PREVIOUS: requires POSTROOM_SECRET_KEY (or POSTROOM_KEY_FILE)');
  return [...keys, ...before].filter(({ id }, index, all) => all.findIndex((key) => key.id === id) === index);
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`POSTROOM_KEY_FILE: can't be read: ${(error as Error).message}`, { cause: error });
  }
}

function toKey(setting: string, text: string): SecretKey {
  const bytes = Buffer.from(text.trim(), 'base64');
  if (bytes.length !== 32) {
    const what = setting === 'POSTROOM_SECRET_KEY' ? 'must be 32 bytes' : 'must be keys of 32 bytes';
    throw new Error(`${setting}: ${what} in base64, for example from: openssl rand -base64 32`);
  }
  return { id: Buffer.from(hkdfSync('sha256', bytes, '', 'postroom key id', 4)).toString('hex'), bytes };
}
