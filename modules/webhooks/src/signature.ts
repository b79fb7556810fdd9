import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { memoize } from './memoize.ts';

const SECRET_PREFIX = 'whsec_';

/** A new signing secret: `whsec_` and 32 random bytes in base64. */
export function newSigningSecret(): string {
  return `${SECRET_PREFIX}${randomBytes(32).toString('base64')}`;
}

/** What a request is signed over. */
export interface Signed {
  /** The event's id, the same over all attempts. */
  eventId: string;
  /** Unix seconds. */
  timestamp: number;
  /** The body, exactly as it is sent. */
  body: string;
}

/**
 * The value of `X-Webhook-Signature`: `t=<timestamp>,v1=<hex>`, HMAC-SHA256 over `<timestamp>.<body>` keyed by the secret
 * as its owner sees it, `whsec_` included (spec: Signature). For a day after a rotation `X-Webhook-Signature-Previous` has
 * the same, keyed by the secret before.
 */
export function signature(secret: string, { timestamp, body }: Signed): string {
  return `t=${timestamp},v1=${hmac(keysOf(secret).asShown, `${timestamp}.${body}`, 'hex')}`;
}

/**
 * The value of `webhook-signature` in the scheme of Standard Webhooks, whose libraries verify us by it: `v1,<base64>` over
 * `<id>.<timestamp>.<body>`, keyed by the bytes that the secret encodes; one for each secret, a space between them.
 */
export function standardSignature(secrets: readonly string[], { eventId, timestamp, body }: Signed): string {
  const signatures = secrets.map(
    (secret) => `v1,${hmac(keysOf(secret).decoded, `${eventId}.${timestamp}.${body}`, 'base64')}`,
  );
  return signatures.join(' ');
}

/** Keys are made once: that costs as much as a signature. */
const keysOf = memoize((secret: string) => ({
  asShown: createSecretKey(Buffer.from(secret)),
  decoded: createSecretKey(Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')),
}));

function hmac(key: KeyObject, text: string, encoding: 'hex' | 'base64'): string {
  return createHmac('sha256', key).update(text).digest(encoding);
}
