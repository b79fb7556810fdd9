import { setTimeout as sleep } from 'node:timers/promises';
import { exitText, type Program, run } from '@postroom/embedded';
import { retry } from '@postroom/errors';

/** Backoff before a program is restarted, in milliseconds; the last value repeats. */
const RESTART_DELAYS_MS = [100, 500, 1000, 2000, 5000, 15_000];
/** A program that ran this long started successfully, so the backoff resets. */
const STEADY_MS = 30_000;

/**
 * Starts a program and restarts it whenever it exits, until stopped. `report` gets one line per exit and restart.
 * @throws StartError if the first start fails.
 */
export async function supervise(program: Program, report: (line: string) => void, aborted: AbortSignal) {
  const stopped = new AbortController();
  let current = await run(program, aborted);
  const ended = keepRunning();
  return {
    stop: async () => {
      stopped.abort();
      await current.stop();
      await ended;
    },
  };

  async function keepRunning(): Promise<void> {
    for (let restarts = 0; ; restarts++) {
      const since = Date.now();
      const exit = await current.exited;
      if (stopped.signal.aborted) return;
      if (Date.now() - since > STEADY_MS) restarts = 0;
      report(`${program.title} ${exitText(exit)}; restarting`);
      const down = Date.now();
      if (!(await startAgain(restarts))) return;
      report(`${program.title} is back after ${((Date.now() - down) / 1000).toFixed(1)} s`);
    }
  }

  /** Retries until the program is running; false when stopped. */
  async function startAgain(restarts: number): Promise<boolean> {
    const { signal } = stopped;
    const delaysMs = restartDelays(restarts);
    try {
      await sleep(delaysMs.next().value, undefined, { signal });
      current = await retry(() => run(program, signal), {
        delaysMs,
        signal,
        onFailure: (error) => report((error as Error).message),
      });
    } catch {
      return false; // stopped
    }
    if (!signal.aborted) return true;
    await current.stop();
    return false;
  }
}

/** The backoff after this many restarts, and after each further failure. */
function* restartDelays(restarts: number): Generator<number, never> {
  for (let tries = restarts; ; tries++) yield RESTART_DELAYS_MS[Math.min(tries, RESTART_DELAYS_MS.length - 1)] ?? 0;
}
