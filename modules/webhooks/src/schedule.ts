import { databaseNow } from '@postroom/clock';
import { type PostResponse, isSuccess } from '@postroom/guarded-client';
import { POLICY } from './policy.ts';

/** Any 2xx acknowledges, even if the body fails; anything else is a failure (spec: Delivery). */
export function isAcknowledged({ status }: Pick<PostResponse, 'status'>): boolean {
  return isSuccess(status);
}

/**
 * Milliseconds until the attempt after number `attempt`; `undefined` after the last. An overloaded receiver (429,
 * 503) may use Retry-After to ask for up to twice the usual delay, never less than the usual one.
 */
export function retryDelayMs(attempt: number, response: PostResponse, random = Math.random): number | undefined {
  const baseMs = attempt >= POLICY.attempt.max ? undefined : POLICY.attempt.retryDelaysMs[attempt - 1];
  if (baseMs === undefined) return undefined;
  const delayMs = baseMs * (1 + POLICY.attempt.jitter * random());
  const requestedMs =
    response.status === 429 || response.status === 503 ? retryAfterMs(response.retryAfter) : undefined;
  return Math.round(requestedMs === undefined ? delayMs : Math.min(Math.max(requestedMs, delayMs), 2 * baseMs));
}

/** Retry-After is in seconds or an HTTP date (RFC 9110). */
function retryAfterMs(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : date - databaseNow();
}

/** A short summary of the response for lists and the Temporal UI. It contains none of the receiver's text. */
export function describeResponse({ status, error }: Pick<PostResponse, 'status' | 'error'>): string {
  if (status === null) return error ?? 'No response.';
  return error === null ? `HTTP ${status}` : `HTTP ${status}, then: ${error}`;
}
