import { setDatabaseTime } from './clock.ts';

/** How often a program asks PostgreSQL for the time, in milliseconds: its clock may jump as well, or another server takes over. */
const READ_MS = 10_000;
/** An answer that took longer is too inexact, in milliseconds. The next one will do. */
const MAX_ROUND_TRIP_MS = 1_000;

interface Options {
  /** Asks PostgreSQL for its time, in milliseconds. */
  ask: () => Promise<number>;
  /** Called when the machine's clock turns out to be wrong, with the seconds that it is ahead; negative if it is behind. */
  onWrong: (seconds: number) => void;
}

let reported = 0;
let timer: NodeJS.Timeout | undefined;

/**
 * Sets this process's clock to PostgreSQL's, and does so again at intervals.
 * @throws what the first question throws. Later outages are reported by what needs the database.
 */
export async function keepDatabaseTime(options: Options): Promise<void> {
  await read(options, Infinity);
  timer ??= setInterval(() => void read(options, MAX_ROUND_TRIP_MS).catch(() => {}), READ_MS).unref();
}

async function read({ ask, onWrong }: Options, maxRoundTripMs: number): Promise<void> {
  const askedAt = performance.now();
  const databaseMs = await ask();
  const answeredAt = performance.now();
  if (answeredAt - askedAt > maxRoundTripMs) return;
  const seconds = Math.round((setDatabaseTime({ databaseMs, askedAt, answeredAt }) ?? 0) / 1000);
  if (seconds !== 0 && Math.abs(seconds - reported) > 1) onWrong(seconds);
  reported = seconds;
}
