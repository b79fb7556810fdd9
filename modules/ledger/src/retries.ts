/** Waits between tries of what must be recorded, in milliseconds; after the last one the error is thrown. */
const RETRY_WAITS_MS = [100, 250, 500, 1_000, 2_000, 2_000, 5_000, 5_000, 5_000, 10_000, 10_000, 15_000];

/** Runs `work` until it succeeds, while a database restarts for instance; gives up after about a minute, or when told to stop. */
export async function withRetries<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (const waitMs of RETRY_WAITS_MS) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
  return work();
}
