/** Codes of PostgreSQL (its appendix A) for which a transaction is worth another try. */
export const UNIQUE_VIOLATION = '23505';
export const DEADLOCK = '40P01';
export const SERIALIZATION_FAILURE = '40001';
export const LOCK_NOT_AVAILABLE = '55P03';
/** A statement took longer than `statement_timeout`, or somebody canceled it. */
export const QUERY_CANCELED = '57014';

/**
 * Runs a transaction, and again when it fails with one of these codes of PostgreSQL, five times in all unless `attempts` says
 * otherwise. `onFailure` is called before each further try.
 * @throws what the last try threw
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
