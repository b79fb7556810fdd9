import { type Answer, isSuccess } from './http-client.ts';

/** The waits between six attempts, in milliseconds (spec: Reliability). */
export const RETRY_DELAYS_MS = [60_000, 300_000, 1_800_000, 7_200_000, 21_600_000];

/** After so many attempts a delivery is failed (spec: Limits). */
export const MAX_ATTEMPTS = 6;

/** Up to a tenth is added to each wait, so that what failed together does not come back together. */
const JITTER = 0.1;

/** Any 2xx acknowledges, whatever becomes of the body; anything else is a failure (spec: Delivery). */
export function isAcknowledged({ status }: Pick<Answer, 'status'>): boolean {
  return isSuccess(status);
}

/**
 * Milliseconds until the attempt after number `attempt`; `undefined` when that was the last. A receiver that is overloaded
 * (429, 503) may ask with Retry-After for up to twice the usual wait, and not for less than the usual one.
 */
export function retryDelayMs(attempt: number, answer: Answer, random = Math.random): number | undefined {
  const usual = attempt >= MAX_ATTEMPTS ? undefined : RETRY_DELAYS_MS[attempt - 1];
  if (usual === undefined) return undefined;
  const wait = usual * (1 + JITTER * random());
  const asked = answer.status === 429 || answer.status === 503 ? retryAfterMs(answer.retryAfter) : undefined;
  return Math.round(asked === undefined ? wait : Math.min(Math.max(asked, wait), 2 * usual));
}

/** Retry-After is seconds or a date (RFC 9110). */
function retryAfterMs(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : date - Date.now();
}

/** An answer in a few words, for lists and for the Temporal UI; nothing of the receiver's text is in it. */
export function describeResponse({ status, error }: Pick<Answer, 'status' | 'error'>): string {
  if (status === null) return error ?? 'No answer.';
  return error === null ? `HTTP ${status}` : `HTTP ${status}, then: ${error}`;
}
