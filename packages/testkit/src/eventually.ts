/**
 * Calls `check` until it stops throwing, and returns its result; throws its last error after `timeoutMs`. Use it to
 * wait for other processes; tests never sleep for a fixed time.
 */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = 20_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
