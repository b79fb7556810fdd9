import { webCrypto } from './runtime.ts';
import type { PostroomEvent } from './types.ts';

/** The request is not a genuine webhook. Respond with 401 and ignore it. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly reason:
    | 'missing_signature'
    | 'malformed_signature'
    | 'timestamp_out_of_tolerance'
    | 'wrong_signature'
    | 'malformed_body';

  constructor(reason: WebhookVerificationError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The headers of a request: `Headers`, or an object such as Node's `request.headers`. */
export type HeadersLike = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** The maximum difference between signing time and now, in seconds. Defaults to 300. */
  toleranceSeconds?: number | undefined;
  /** The time to compare with; for tests. */
  now?: Date | undefined;
}

/**
 * Verifies that Postroom signed a webhook request with your secret, and returns its event. Pass the body exactly as
 * received, before any parsing: the signature covers its bytes. For 24 hours after a rotation, requests also verify
 * with the previous secret, because Postroom adds the `X-Webhook-Signature-Previous` header.
 * @param secret the endpoint's signing secret, `whsec_…`; several during a rotation
 * @throws WebhookVerificationError if verification fails; respond with 401
 * @throws TypeError when the secret is missing, for example because an environment variable is not set
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: HeadersLike,
  secret: string | readonly string[] | null | undefined,
  { toleranceSeconds = 300, now = new Date() }: VerifyOptions = {},
): Promise<PostroomEvent> {
  const secrets = secretsOf(secret);
  const current = headerOf(headers, 'x-webhook-signature');
  if (current === undefined) {
    throw new WebhookVerificationError('missing_signature', 'The X-Webhook-Signature header is missing.');
  }
  const previous = headerOf(headers, 'x-webhook-signature-previous');
  const candidates = [current, ...(previous === undefined ? [] : [previous])].map(parsedSignature);
  const bytes = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : new Uint8Array(rawBody);
  const timestamp = await signingTime(bytes, candidates, secrets);
  if (timestamp === undefined) {
    throw new WebhookVerificationError('wrong_signature', 'The signature does not match the body and the secret.');
  }
  // Only signed data can be trusted, so the time is checked after the signature.
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookVerificationError(
      'timestamp_out_of_tolerance',
      `The timestamp is more than ${toleranceSeconds} seconds from now.`,
    );
  }
  return parsedEvent(bytes);
}

/** Without this check, an unset variable would look like an invalid signature. */
function secretsOf(secret: string | readonly string[] | null | undefined): string[] {
  const secrets = [secret].flat().filter((each) => each != null && each.trim() !== '');
  if (secrets.length === 0) {
    throw new TypeError(
      'The signing secret is missing: pass the secret of the endpoint, whsec_…, to verifyWebhook as the third argument.',
    );
  }
  return secrets as string[];
}

function headerOf(headers: HeadersLike, name: string): string | undefined {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return (typeof value === 'string' ? value : value?.[0]) || undefined;
}

interface Signature {
  timestamp: string;
  signatures: Uint8Array<ArrayBuffer>[];
}

/** The timestamp of the first header that matches one of the secrets. */
async function signingTime(
  body: Uint8Array,
  candidates: readonly Signature[],
  secrets: readonly string[],
): Promise<string | undefined> {
  for (const { timestamp, signatures } of candidates) {
    const signed = joined(new TextEncoder().encode(`${timestamp}.`), body);
    if (await anyMatches(signed, signatures, secrets)) return timestamp;
  }
  return undefined;
}

/** Parses `t=<unix seconds>,v1=<hex>`; unknown schemes are skipped. */
function parsedSignature(header: string): Signature {
  const parts = header.split(',').map((part) => part.trim());
  const values = (name: string) =>
    parts.filter((part) => part.startsWith(`${name}=`)).map((part) => part.slice(name.length + 1));
  const [timestamp, second] = values('t');
  const signatures = values('v1').filter((hex) => /^[0-9a-f]{64}$/.test(hex));
  if (timestamp === undefined || second !== undefined || !/^\d{1,15}$/.test(timestamp) || signatures.length === 0) {
    throw new WebhookVerificationError(
      'malformed_signature',
      'X-Webhook-Signature does not have the form t=<timestamp>,v1=<hex>.',
    );
  }
  return { timestamp, signatures: signatures.map(bytesOfHex) };
}

/** `crypto.subtle.verify` compares in constant time. */
async function anyMatches(
  signed: Uint8Array<ArrayBuffer>,
  signatures: readonly Uint8Array<ArrayBuffer>[],
  secrets: readonly string[],
): Promise<boolean> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const { subtle } = await webCrypto();
  const checks = secrets.map(async (secret) => {
    const key = await subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, ['verify']);
    return Promise.all(signatures.map((signature) => subtle.verify('HMAC', key, signature, signed)));
  });
  return (await Promise.all(checks)).flat().includes(true);
}

function parsedEvent(bytes: Uint8Array): PostroomEvent {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as PostroomEvent;
  } catch {
    throw new WebhookVerificationError('malformed_body', 'The body is signed but is not valid JSON.');
  }
}

function bytesOfHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16),
  );
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
