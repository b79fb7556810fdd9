/** PostgreSQL's time when this process last asked for it, and when that was on the clock of `performance.now()`. */
let reading: { databaseMs: number; at: number } | undefined;

/**
 * PostgreSQL's time, in whole milliseconds since the epoch. The clocks of machines differ, and they jump. So where programs compare times, or
 * a program compares one with a time in the database, they all use this clock. Until the process has asked PostgreSQL, it is that of the machine.
 */
export const databaseNow = (): number =>
  reading === undefined ? Date.now() : Math.floor(reading.databaseMs + performance.now() - reading.at);

/** `databaseNow` as a date. */
export const databaseTime = (): Date => new Date(databaseNow());

/** The machine's clock may differ from PostgreSQL's by this, in milliseconds, before it is reported. */
const TOLERATED_MS = 5_000;

/**
 * Sets the clock from PostgreSQL's answer.
 * @param answer its time, in milliseconds, and when the question was asked and answered on the clock of `performance.now()`.
 * @returns how far this machine's clock is ahead, in milliseconds, if that is more than five seconds.
 */
export function setDatabaseTime(answer: {
  databaseMs: number;
  askedAt: number;
  answeredAt: number;
}): number | undefined {
  const { databaseMs, askedAt, answeredAt } = answer;
  const at = (askedAt + answeredAt) / 2;
  reading = { databaseMs, at };
  const aheadMs = Date.now() - databaseNow();
  return Math.abs(aheadMs) > TOLERATED_MS ? aheadMs : undefined;
}
