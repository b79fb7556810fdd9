import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { DomainError } from '@postroom/errors';
import { logger } from '@postroom/observability';
import { config } from '@postroom/settings/config';
import { SECRET_KEY_SETTINGS, type SecretKey } from '@postroom/settings';

/** Version of envelopes that do not name their key. */
const UNNAMED = 'v1';
const VERSION = 'v2';
/** Prefix of current envelopes; the key's id follows. */
export const SEALED = `${VERSION}:`;

/** A column of secrets encrypted at rest, and how to re-encrypt it. */
export interface SecretColumn {
  table: string;
  column: string;
  /** Columns that identify the row; each secret is bound to them. */
  key: readonly string[];
  /** Prefix of everything encrypted with the current key. */
  current: () => string;
  /** LIKE pattern of envelopes, if the column also holds other texts. */
  envelopes?: string;
  /** Encrypts for the row identified by `key`. */
  encrypt: (secret: string, ...key: string[]) => string | Promise<string>;
  /** The inverse. @throws if none of our keys decrypts it. */
  decrypt: (envelope: string, ...key: string[]) => string | Promise<string>;
}

const columns = new Map<string, SecretColumn>();

/** Every secret column of the modules loaded so far. */
export const secretColumns = (): SecretColumn[] =>
  [...columns].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, column]) => column);

/** Registers a column for key rotation. */
export function registerSecretColumn(column: SecretColumn): void {
  columns.set(`${column.table}.${column.column}`, column);
}

/** Encrypts and decrypts one column; `key` holds the values of the columns it is bound to. */
export interface Sealing {
  encrypt: (secret: string, ...key: string[]) => string;
  /** @throws Error naming the setting, if no configured key decrypts it or it belongs to another row. */
  decrypt: (envelope: string, ...key: string[]) => string;
}

/**
 * The only way to encrypt a secret for a column, so that key rotation never misses one. A secret is bound to its
 * row by `boundTo` and `context`: copied to another row, it does not decrypt.
 */
export function secretColumn(
  table: string,
  column: string,
  {
    boundTo = ['id'],
    context = (...key) => key.join(' '),
    envelopes,
  }: { boundTo?: readonly string[]; context?: (...key: string[]) => string; envelopes?: string } = {},
): Sealing {
  const encrypt = (secret: string, ...key: string[]) => seal(secret, context(...key));
  const decrypt = (envelope: string, ...key: string[]) => open(envelope, context(...key));
  registerSecretColumn({
    table,
    column,
    key: boundTo,
    current: () => `${SEALED}${firstKey().id}:`,
    ...(envelopes === undefined ? {} : { envelopes }),
    encrypt,
    decrypt,
  });
  return { encrypt, decrypt };
}

/** What `read` decrypts; `undefined` if no configured key can, so that a user who lost the key can replace the secret. */
export function ifReadable<Secret>(read: () => Secret): Secret | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** What `read` decrypts, for its user. @throws DomainError `conflict` with the remedy, if no configured key can. */
export function requireReadable<Secret>(read: () => Secret, remedy: string): Secret {
  try {
    return read();
  } catch (error) {
    logger.error({ err: error }, 'could not decrypt a stored secret');
    throw new DomainError('conflict', `This installation no longer has the key that encrypted this secret. ${remedy}`);
  }
}

/** `v2:`, the id of the key, and base64 of nonce, tag and ciphertext (AES-256-GCM); the context is authenticated. */
function seal(secret: string, context: string): string {
  const { id, bytes } = firstKey();
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', bytes, nonce).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return `${SEALED}${id}:${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')}`;
}

function open(envelope: string, context: string): string {
  const keys = allKeys();
  const [version, ...rest] = envelope.split(':');
  if (version === UNNAMED && rest.length === 1) return openByAny(rest[0] as string, context, keys);
  if (version !== VERSION || rest.length !== 2) throw new Error('A stored secret has an unknown envelope version.');
  const [id, body] = rest as [string, string];
  const key = keys.find((one) => one.id === id);
  if (key === undefined) {
    throw new Error(
      `A stored secret was encrypted with the key ${id}, which is not in ${SECRET_KEY_SETTINGS}; the configured keys are ${keys.map((one) => one.id).join(', ')}.`,
    );
  }
  return decipher(body, context, key);
}

function openByAny(body: string, context: string, keys: readonly SecretKey[]): string {
  for (const key of keys) {
    try {
      return decipher(body, context, key);
    } catch {
      // from another key or another row
    }
  }
  throw new Error(
    `A stored secret was encrypted for another row, or with a key that is not in ${SECRET_KEY_SETTINGS}.`,
  );
}

function decipher(body: string, context: string, { bytes: key }: SecretKey): string {
  const bytes = Buffer.from(body, 'base64');
  const opened = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
  opened.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([opened.update(bytes.subarray(28)), opened.final()]).toString('utf8');
}

/**
 * The secret keys: the first one encrypts and signs, all of them decrypt and verify.
 * @throws Error naming the setting, if none is set.
 */
export function secretKeysFor(purpose: string): readonly [SecretKey, ...SecretKey[]] {
  const [first, ...others] = config.secretKeys;
  if (first === undefined) throw new Error(`POSTROOM_SECRET_KEY (or POSTROOM_KEY_FILE) is not set, ${purpose}.`);
  return [first, ...others];
}

const allKeys = () => secretKeysFor('so secrets can be neither stored nor read');
const firstKey = () => allKeys()[0];
