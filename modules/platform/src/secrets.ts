import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { config } from './config.ts';
import { SECRET_KEY_SETTINGS, type SecretKey } from './secret-keys.ts';

/** Envelopes of before they named their key. */
const UNNAMED = 'v1';
const VERSION = 'v2';
/** What every envelope of today begins with; the id of its key follows. */
export const SEALED = `${VERSION}:`;

/** A column that holds secrets encrypted at rest, and how what is in it is encrypted anew. */
export interface SecretColumn {
  table: string;
  column: string;
  /** The columns that name its row, and that a secret in it is bound to. */
  key: readonly string[];
  /** What begins everything that the key which encrypts now has encrypted. */
  current: () => string;
  /** What tells envelopes from other texts, as LIKE has it, where not everything in the column is one. */
  envelopes?: string;
  /** Encrypts for the row that `key` names. */
  encrypt: (secret: string, ...key: string[]) => string | Promise<string>;
  /** The inverse. @throws when no key of ours opens it. */
  decrypt: (envelope: string, ...key: string[]) => string | Promise<string>;
}

const columns = new Map<string, SecretColumn>();

/** Every column that holds secrets, of the modules that have been loaded. */
export const secretColumns = (): SecretColumn[] => [...columns.values()];

/** Makes a column known, so that what is in it is encrypted anew when the key is changed. */
export function registerSecretColumn(column: SecretColumn): void {
  columns.set(`${column.table}.${column.column}`, column);
}

/** Encrypts and decrypts what one column holds; `key` are the values of the columns that it is bound to. */
export interface Sealing {
  encrypt: (secret: string, ...key: string[]) => string;
  /** @throws Error naming the setting, when no key that we have opens it, or when it was made for another row. */
  decrypt: (envelope: string, ...key: string[]) => string;
}

/**
 * The way to encrypt a secret for a column, and the only one, so that none is forgotten when the key is changed. A secret is bound to
 * its row, by `boundTo` and `context`: a value copied to another row does not decrypt.
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
      `A stored secret was encrypted with the key ${id}, which ${SECRET_KEY_SETTINGS} do not hold: they hold ${keys.map((one) => one.id).join(', ')}.`,
    );
  }
  return decipher(body, context, key);
}

function openByAny(body: string, context: string, keys: readonly SecretKey[]): string {
  for (const key of keys) {
    try {
      return decipher(body, context, key);
    } catch {
      // another key's, or another row's
    }
  }
  throw new Error(
    `A stored secret was encrypted with a key that ${SECRET_KEY_SETTINGS} do not hold, or for another row.`,
  );
}

function decipher(body: string, context: string, { bytes: key }: SecretKey): string {
  const bytes = Buffer.from(body, 'base64');
  const opened = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
  opened.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([opened.update(bytes.subarray(28)), opened.final()]).toString('utf8');
}

/**
 * The secret keys: what is first encrypts and signs, all of them decrypt and verify.
 * @throws Error naming the setting, when there is none.
 */
export function secretKeysFor(purpose: string): readonly [SecretKey, ...SecretKey[]] {
  const [first, ...others] = config.secretKeys;
  if (first === undefined) throw new Error(`POSTROOM_SECRET_KEY (or POSTROOM_KEY_FILE) is not set, ${purpose}.`);
  return [first, ...others];
}

const allKeys = () => secretKeysFor('so secrets can be neither stored nor read');
const firstKey = () => allKeys()[0];
