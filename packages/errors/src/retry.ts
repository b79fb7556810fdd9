import { setTimeout as sleep } from 'node:timers/promises';

/** PostgreSQL error codes (appendix A) after which a transaction is worth retrying. */
export const UNIQUE_VIOLATION = '23505';
/** A row violates a check, or has no partition. */
export const CHECK_VIOLATION = '23514';
export const DEADLOCK = '40P01';
export const SERIALIZATION_FAILURE = '40001';
export const LOCK_NOT_AVAILABLE = '55P03';
/** The statement exceeded `statement_timeout` or was canceled. */
export const QUERY_CANCELED = '57014';
/** The table was dropped, or never was. */
export const UNDEFINED_TABLE = '42P01';
/** Ours: a row of a project that is being moved to another cell, or deleted. */
export const PROJECT_MOVING = '55M01';
/** Ours: a change of a database that another one has taken over from. */
export const SUPERSEDED = '55M02';
/** A change in a read-only transaction, as on a standby. */
export const READ_ONLY = '25006';

/** Whether an error of `pg` has one of these codes. */
export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  codes.includes((error as { code?: string } | null)?.code ?? '');

export interface RetryOptions {
  /** Delays before the retries, in milliseconds. Once they are used up, the next error is thrown. */
  delaysMs: Iterable<number>;
  /** Whether an error is worth a retry; by default every error is. */
  isRetryable?: (error: unknown) => boolean;
  /** Called before each delay. */
  onFailure?: ((error: unknown) => void) | undefined;
  /** Ends the retries: the last error is thrown, at once if a delay is under way. */
  signal?: AbortSignal | undefined;
}

/** Runs `work` until it succeeds. @throws the last error */
export async function retry<Result>(
  work: () => Promise<Result>,
  { delaysMs, isRetryable = () => true, onFailure, signal }: RetryOptions,
): Promise<Result> {
  for (const delayMs of delaysMs) {
    try {
      return await work();
    } catch (error) {
      if (!isRetryable(error)) throw error;
      if (!signal?.aborted) onFailure?.(error);
      if (delayMs > 0) await sleep(delayMs, undefined, { signal }).catch(() => {}); // rejects only when aborted
      if (signal?.aborted) throw error;
    }
  }
  return work();
}

/** Delays for exponential backoff without end: each is twice the previous one, up to a limit. */
export function* exponentialDelays(firstMs: number, maxMs: number): Generator<number, never> {
  for (let delayMs = firstMs; ; delayMs = Math.min(delayMs * 2, maxMs)) yield delayMs;
}

/**
 * Runs a transaction and retries it at once on these PostgreSQL codes, up to `attempts` tries in total. Calls
 * `onFailure` before each retry.
 * @throws the last error
 */
export function retryOn<Result>(
  codes: readonly string[],
  transact: () => Promise<Result>,
  { attempts = 5, onFailure }: { attempts?: number; onFailure?: (() => void) | undefined } = {},
): Promise<Result> {
  return retry(transact, {
    delaysMs: Array.from({ length: attempts - 1 }, () => 0),
    isRetryable: (error) => hasCode(error, ...codes),
    onFailure,
  });
}
