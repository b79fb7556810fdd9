import { retry } from '@postroom/platform';
import { MAIL_POLICY } from './policy.ts';

/** Retries `work`, for example while a database restarts. Gives up after about a minute, or at the first error once `signal` is aborted. */
export const withRetries = <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> =>
  retry(work, { delaysMs: MAIL_POLICY.pipeline.retryDelaysMs, isRetryable: () => !signal.aborted });
