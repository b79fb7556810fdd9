/** PostgreSQL error codes (appendix A) after which a transaction is worth retrying. */
export const UNIQUE_VIOLATION = '23505';
export const DEADLOCK = '40P01';
export const SERIALIZATION_FAILURE = '40001';
export const LOCK_NOT_AVAILABLE = '55P03';
/** The statement exceeded `statement_timeout` or was canceled. */
export const QUERY_CANCELED = '57014';

/**
 * Runs a transaction and retries it on these PostgreSQL codes, up to `attempts` tries in total. Calls `onFailure`
 * before each retry.
 * @throws the last error
 */
export async function retryOn<Result>(
  codes: readonly string[],
  transact: () => Promise<Result>,
  { attempts = 5, onFailure }: { attempts?: number; onFailure?: (() => void) | undefined } = {},
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transact();
    } catch (error) {
      const { code = '' } = (error ?? {}) as { code?: string };
      if (!codes.includes(code) || attempt === attempts) throw error;
      onFailure?.();
    }
  }
}
