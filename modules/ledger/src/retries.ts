/** Delays between attempts, in milliseconds; after the last one the error is thrown. */
const RETRY_DELAYS_MS = [100, 250, 500, 1_000, 2_000, 2_000, 5_000, 5_000, 5_000, 10_000, 10_000, 15_000];

/** Retries `work`, for example while a database restarts. Gives up after about a minute, or at the first error once `signal` is aborted. */
export async function withRetries<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (const waitMs of RETRY_DELAYS_MS) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
  return work();
}
