/** Delays while a mail server refuses all mail, in milliseconds; the last one repeats. */
const DELAYS_MS = [1_000, 2_000, 5_000, 15_000, 30_000, 60_000];

/** The delay in milliseconds after a number of runs in a row in which a mail server refused all mail; 0 after none. */
export const backoffMs = (refusedRuns: number): number =>
  refusedRuns === 0 ? 0 : (DELAYS_MS[Math.min(refusedRuns, DELAYS_MS.length) - 1] ?? 0);

/** Tells readers of a workflow's details why it waits. @param answer the mail server's; null if it accepts mail. */
export const describeBackoff = (answer: string | null): string =>
  answer === null ? '' : `\n\nThe mail server accepts no mail at the moment: ${answer}`;
