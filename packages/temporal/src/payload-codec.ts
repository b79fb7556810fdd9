import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { SecretKey } from '@postroom/settings';

const ENCODING = Buffer.from('binary/encrypted');
const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

/**
 * Encrypts what Temporal stores of workflows (arguments, results, summaries, details) with AES-256-GCM under the installation's
 * key: nonce, tag and ciphertext, with the id of the key in the metadata. Decrypts with any of the keys, and passes on what is not
 * encrypted, so `encrypts` can be switched at any time.
 */
export function payloadCodec(keys: readonly SecretKey[], encrypts: boolean): PayloadCodec {
  const [current] = keys;
  const ciphers = new Map(keys.map((key) => [key.id, cipherKey(key)]));
  return {
    encode: async (payloads) =>
      encrypts && current !== undefined
        ? payloads.map((payload) => seal(payload, current.id, ciphers.get(current.id) as Buffer))
        : payloads,
    decode: async (payloads) => payloads.map((payload) => (isSealed(payload) ? open(payload, ciphers) : payload)),
  };
}

const cipherKey = ({ bytes }: SecretKey) =>
  Buffer.from(hkdfSync('sha256', bytes, '', 'postroom temporal payloads', 32));

const isSealed = ({ metadata }: Payload) => ENCODING.equals(metadata?.encoding ?? Buffer.alloc(0));

function seal(payload: Payload, keyId: string, key: Buffer): Payload {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const sealed = Buffer.concat([cipher.update(PayloadMessage.encode(payload).finish()), cipher.final()]);
  return {
    metadata: { encoding: ENCODING, 'encryption-key-id': Buffer.from(keyId) },
    data: Buffer.concat([nonce, cipher.getAuthTag(), sealed]),
  };
}

/** @throws Error naming a key that is not configured. */
function open({ metadata, data }: Payload, keys: ReadonlyMap<string, Buffer>): Payload {
  const id = Buffer.from(metadata?.['encryption-key-id'] ?? []).toString();
  const key = keys.get(id);
  if (key === undefined)
    throw new Error(
      `A Temporal payload was encrypted with the key ${id}, which is not configured: add it to POSTROOM_SECRET_KEY_PREVIOUS.`,
    );
  const bytes = Buffer.from(data ?? []);
  const opened = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAuthTag(bytes.subarray(12, 28));
  return PayloadMessage.decode(Buffer.concat([opened.update(bytes.subarray(28)), opened.final()]));
}
