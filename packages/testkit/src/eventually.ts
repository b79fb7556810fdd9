/** The longest pause between two checks, in milliseconds. A check costs a request or a query. */
const MAX_PAUSE_MS = 150;

/**
 * Calls `check` until it stops throwing, and returns its result; throws its last error after `timeoutMs`. Use it to
 * wait for other processes; tests never sleep for a fixed time. It checks less often the longer it has waited.
 */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = 20_000): Promise<T> {
  const start = Date.now();
  for (;;) {
    try {
      return await check();
    } catch (error) {
      const waited = Date.now() - start;
      if (waited > timeoutMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.min(Math.max(50, waited / 20), MAX_PAUSE_MS)));
    }
  }
}
