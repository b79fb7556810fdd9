import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_WAIT_MS, type Report, recordReports } from '@postroom/bounces';
import { hasReports, takeReports } from '@postroom/emails/inbox';
import { exponentialDelays, inTransaction, logger, retry } from '@postroom/platform';

/** Maximum reports recorded in one transaction. */
const MAX_BATCH = 1000;
/** How often to look for reports whose messages are settled, in milliseconds. */
const POLL_MS = 50;
/** Backoff after a failure, in milliseconds; reports stay in their table. */
const RETRY_MS = 500;
const MAX_RETRY_MS = 5_000;

/**
 * Records pending reports, as a provider's notifications would. It runs in batches after the SMTP response, so it keeps
 * up with the mail; in the transaction of each mail it would take most of the inbox's time.
 */
export class Reporter {
  #running: Promise<void> | undefined;
  #again = false;
  readonly #stopped = new AbortController();

  /** Signals that there are pending reports. */
  wake(): void {
    this.#again = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#again && !this.#stopped.signal.aborted) this.wake();
    });
  }

  /** Resolves when everything is reported, or when it fails: the next start resumes. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      await retry(() => recordAll(this.#stopped.signal), {
        delaysMs: exponentialDelays(RETRY_MS, MAX_RETRY_MS),
        signal: this.#stopped.signal,
        onFailure: (error) => logger.warn({ err: error }, 'could not record reports; will retry'),
      }).catch(() => {}); // stopped: the next start resumes
    }
  }
}

async function recordAll(stopped: AbortSignal): Promise<void> {
  while (!stopped.aborted) {
    while ((await recordSome()) > 0);
    if (!(await hasReports())) return;
    await sleep(POLL_MS);
  }
}

async function recordSome(): Promise<number> {
  return inTransaction(async (client) => {
    const rows = await takeReports<Report>(client, MAX_BATCH, MAX_WAIT_MS);
    if (rows.length > 0) await recordReports(client, rows);
    return rows.length;
  });
}
