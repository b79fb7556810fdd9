import { config } from '@postroom/settings/config';
import { pool } from './db.ts';
import { sleep } from './subscription.ts';

/** The database's response time is measured at most this often, in milliseconds. */
const PROBE_INTERVAL_MS = 250;

/**
 * Bulk work pauses as long as it works when a trivial query takes this many milliseconds longer than the fastest one so
 * far, which is about the round trip to the database.
 */
const TOLERANCE_MS = 15;

const MAX_PAUSE_MS = 10_000;

let fastestMs = Infinity;
let responseMs = 0;
let probedAt = 0;

/**
 * Pauses bulk work, such as a batch of an import, that took `tookMs`, in proportion to how slowly the database responds.
 * Imports, campaigns and counts thus leave the database and the processor to requests and mail as soon as those have to
 * wait, and use all of it otherwise. Ends early if the signal aborts.
 */
export async function paceBulkWork(tookMs: number, signal?: AbortSignal): Promise<void> {
  await probe();
  const pauseMs = Math.min(MAX_PAUSE_MS, tookMs * pauseRatio(responseMs - fastestMs));
  if (pauseMs < 1) return;
  await sleep(pauseMs, signal);
}

/**
 * Paces bulk work that alternates between the database and other waits, such as those for a mail server or a rate limit. Only
 * the time spent in `measure` counts.
 */
export class BulkPacer {
  #workedMs = 0;

  async measure<T>(work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      return await work();
    } finally {
      this.#workedMs += performance.now() - began;
    }
  }

  /** Pauses for the work since the last pause, as `paceBulkWork` does. */
  async pause(signal?: AbortSignal): Promise<void> {
    const workedMs = this.#workedMs;
    this.#workedMs = 0;
    await paceBulkWork(workedMs, signal);
  }
}

/** Whether bulk work pauses for longer than it works. Work that could run in parallel should not. */
export const isDatabaseBusy = (): boolean => pauseRatio(responseMs - fastestMs) > 1;

/** How long to pause after bulk work, relative to its duration, when a trivial query is delayed by `delayMs`. */
export const pauseRatio = (delayMs: number): number =>
  Math.min(config.BULK_PAUSE_RATIO, Math.max(0, (2 * delayMs) / TOLERANCE_MS - 1));

/** Measures the response time, including the wait for a connection, or for an error. Averages over the last few probes. */
async function probe(): Promise<void> {
  const began = performance.now();
  if (began - probedAt < PROBE_INTERVAL_MS) return;
  probedAt = began;
  await pool.query('SELECT').catch(() => {});
  const tookMs = performance.now() - began;
  fastestMs = Math.min(fastestMs, tookMs);
  responseMs = (responseMs + tookMs) / 2;
}
