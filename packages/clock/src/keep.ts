import { logger } from '@postroom/observability';
import { setDatabaseTime } from './clock.ts';

/** How often a program asks PostgreSQL for the time, in milliseconds: its clock may jump as well, or another server takes over. */
const READ_MS = 10_000;
/** An answer that took longer is too inexact, in milliseconds. The next one will do. */
const MAX_ROUND_TRIP_MS = 1_000;

let reported = 0;
let timer: NodeJS.Timeout | undefined;

/**
 * Sets this process's clock to PostgreSQL's, and does so again at intervals. Logs when the machine's clock is wrong.
 * @param ask asks PostgreSQL for its time, in milliseconds.
 * @throws what the first question throws. Later outages are reported by what needs the database.
 */
export async function keepDatabaseTime(ask: () => Promise<number>): Promise<void> {
  await read(ask, Infinity);
  timer ??= setInterval(() => void read(ask, MAX_ROUND_TRIP_MS).catch(() => {}), READ_MS).unref();
}

async function read(ask: () => Promise<number>, maxRoundTripMs: number): Promise<void> {
  const askedAt = performance.now();
  const databaseMs = await ask();
  const answeredAt = performance.now();
  if (answeredAt - askedAt > maxRoundTripMs) return;
  const seconds = Math.round((setDatabaseTime({ databaseMs, askedAt, answeredAt }) ?? 0) / 1000);
  if (seconds !== 0 && Math.abs(seconds - reported) > 1)
    logger.warn(
      { seconds },
      `the clock of this machine is ${Math.abs(seconds)} seconds ${seconds > 0 ? 'ahead of' : 'behind'} PostgreSQL's: correct one of them`,
    );
  reported = seconds;
}
