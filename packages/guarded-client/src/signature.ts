import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;
/** Base64 has four characters for three bytes. */
export const SECRET_LENGTH = SECRET_PREFIX.length + 4 * Math.ceil(SECRET_BYTES / 3);

/** A new signing secret: `whsec_` and 32 random bytes in base64. */
export function newSigningSecret(): string {
  return `${SECRET_PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/** The signed content of a request. */
export interface Signed {
  /** The event id, the same for every attempt. */
  eventId: string;
  /** Unix seconds. */
  timestamp: number;
  /** The body, exactly as sent. */
  body: string;
}

/**
 * The value of `X-Webhook-Signature`: `t=<timestamp>,v1=<hex>`, HMAC-SHA256 over `<timestamp>.<body>` keyed by the
 * secret as displayed, including `whsec_` (spec: Signature). For a day after a rotation,
 * `X-Webhook-Signature-Previous` has the same with the previous secret.
 */
export function signature(secret: string, { timestamp, body }: Signed): string {
  return `t=${timestamp},v1=${hmac(keys.memo(secret).asShown, `${timestamp}.${body}`, 'hex')}`;
}

/**
 * The value of `webhook-signature` as in Standard Webhooks: `v1,<base64>` over `<id>.<timestamp>.<body>`, keyed by
 * the bytes the secret encodes; one per secret, separated by spaces.
 */
export function standardSignature(secrets: readonly string[], { eventId, timestamp, body }: Signed): string {
  const signatures = secrets.map(
    (secret) => `v1,${hmac(keys.memo(secret).decoded, `${eventId}.${timestamp}.${body}`, 'base64')}`,
  );
  return signatures.join(' ');
}

/** Cached because creating a key costs as much as a signature. */
const keys = new LRUCache<string, { asShown: KeyObject; decoded: KeyObject }>({
  max: 1_000,
  memoMethod: (secret) => ({
    asShown: createSecretKey(Buffer.from(secret)),
    decoded: createSecretKey(Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')),
  }),
});

function hmac(key: KeyObject, text: string, encoding: 'hex' | 'base64'): string {
  return createHmac('sha256', key).update(text).digest(encoding);
}
