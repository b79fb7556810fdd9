import { sleep } from '@postroom/concurrency';
import { config } from '@postroom/settings/config';
import { pool } from './db.ts';
import { REQUESTS } from './shared-rate.ts';

/** How often the database's response time is measured at most, and which projects make requests, in milliseconds. */
const PROBE_INTERVAL_MS = 250;
const ACTIVE_INTERVAL_MS = 1_000;
/** A project is active for this long after a request. */
const ACTIVE_SECONDS = 3;

/**
 * Bulk work pauses as long as it works when a trivial query takes this many milliseconds longer than the fastest one so
 * far, which is about the round trip to the database; a long round trip varies, so it is tolerated as well. A request makes several
 * queries, so other projects notice less than that.
 */
const TOLERANCE_MS = { alone: 15, shared: 2 };
/** While other projects make requests, pauses are at most this many times as long as `BULK_PAUSE_RATIO` says. */
const SHARED_FACTOR = 4;

const MAX_PAUSE_MS = 10_000;

let fastestMs = Infinity;
let responseMs = 0;
let probedAt = -Infinity;
let activeProjects: string[] = [];
let activeReadAt = -Infinity;

/**
 * Pauses bulk work of a project, such as a batch of an import, that took `tookMs`, in proportion to how slowly the database responds.
 * Imports, campaigns and counts thus leave the database and the processor to requests and mail as soon as those have to
 * wait, and use all of it otherwise; they give way much sooner while other projects make requests. Ends early if the signal aborts.
 */
export async function paceBulkWork(projectId: string, tookMs: number, signal?: AbortSignal): Promise<void> {
  await probe();
  const pauseMs = Math.min(MAX_PAUSE_MS, tookMs * ratioFor(projectId));
  if (pauseMs >= 1) await sleep(pauseMs, signal);
}

/**
 * Does bulk work of a project that a request waits for, page by page, each in a transaction of its caller's, with the pauses of
 * `paceBulkWork` in between. @param page gets what the page before it returned, at first a blank text; null after the last one.
 */
export async function inPages(projectId: string, page: (after: string) => Promise<string | null>): Promise<void> {
  for (let after = ''; ;) {
    const began = performance.now();
    const last = await page(after);
    if (last === null) return;
    after = last;
    await paceBulkWork(projectId, performance.now() - began);
  }
}

/** Whether a project's bulk work pauses for longer than it works. Work that could run in parallel should not. */
export const isDatabaseBusy = (projectId: string): boolean => ratioFor(projectId) > 1;

/** Whether other projects make requests, in any process, as far as is known. */
export function isShared(projectId: string): boolean {
  if (performance.now() - activeReadAt > ACTIVE_INTERVAL_MS) void readActiveProjects().catch(() => {});
  return activeProjects.some((active) => active !== projectId);
}

const ratioFor = (projectId: string) =>
  pauseRatio(responseMs - fastestMs, isShared(projectId) ? 'shared' : 'alone', fastestMs);

/** How long to pause after bulk work, relative to its duration, when a trivial query is delayed by `delayMs`. */
export function pauseRatio(delayMs: number, use: 'alone' | 'shared', roundTripMs = 0): number {
  const most = config.BULK_PAUSE_RATIO * (use === 'shared' ? SHARED_FACTOR : 1);
  return Math.min(most, Math.max(0, (2 * delayMs) / Math.max(TOLERANCE_MS[use], roundTripMs) - 1));
}

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

/** Reads two of the projects that make requests, which their rate limits know: enough to tell whether there is another. */
async function readActiveProjects(): Promise<void> {
  activeReadAt = performance.now();
  const { rows } = await pool.query<{ id: string }>({
    name: 'active-projects',
    text: `SELECT substr(name, length($1) + 2) AS id FROM shared_rates
      WHERE starts_with(name, $1 || ' prj_') AND horizon > now() - interval '${ACTIVE_SECONDS} seconds' LIMIT 2`,
    values: [REQUESTS],
  });
  activeProjects = rows.map(({ id }) => id);
}
