import { setTimeout as sleep } from 'node:timers/promises';
import { exitText, type Program, run } from '@postroom/embedded';

/** Waits before a program that ended is started again; the last one repeats. */
export const RESTART_DELAYS_MS = [100, 500, 1000, 2000, 5000, 15_000];
/** One that ran this long has started well, and the waits begin anew. */
const STEADY_MS = 30_000;

/**
 * Starts a program and starts it again whenever it ends, until stopped; `report` gets a line about each time.
 * @throws StartError when the first start fails.
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
      report(`${program.title} ${exitText(exit)}; starting it again`);
      const down = Date.now();
      if (!(await startAgain(restarts))) return;
      report(`${program.title} is back after ${((Date.now() - down) / 1000).toFixed(1)} s`);
    }
  }

  /** Tries until it is there; false when that is no longer wanted. */
  async function startAgain(restarts: number): Promise<boolean> {
    for (let tries = restarts; ; tries++) {
      try {
        await sleep(RESTART_DELAYS_MS[Math.min(tries, RESTART_DELAYS_MS.length - 1)], undefined, {
          signal: stopped.signal,
        });
        current = await run(program, stopped.signal);
        if (!stopped.signal.aborted) return true;
        await current.stop();
        return false;
      } catch (error) {
        if (stopped.signal.aborted) return false;
        report((error as Error).message);
      }
    }
  }
}
