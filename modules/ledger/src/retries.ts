import { retry } from '@postroom/platform';

/** Delays between attempts, in milliseconds; after the last one the error is thrown. */
const RETRY_DELAYS_MS = [100, 250, 500, 1_000, 2_000, 2_000, 5_000, 5_000, 5_000, 10_000, 10_000, 15_000];

/** Retries `work`, for example while a database restarts. Gives up after about a minute, or at the first error once `signal` is aborted. */
export const withRetries = <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> =>
  retry(work, { delaysMs: RETRY_DELAYS_MS, isRetryable: () => !signal.aborted });
