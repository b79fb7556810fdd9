/** Aborted once this process has been told to stop. Long-running work hands itself over to another process then. */
const draining = new AbortController();

/** Aborts when this process begins to drain. */
export const drainSignal: AbortSignal = draining.signal;

/** Whether this process has been told to stop, and so must get no new work. */
export const isDraining = (): boolean => draining.signal.aborted;

/** Begins to drain. There is no way back: the process exits afterwards. */
export function startDraining(): void {
  draining.abort();
}
