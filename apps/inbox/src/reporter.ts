import { setTimeout as sleep } from 'node:timers/promises';
import { type Report, recordReports } from '@postroom/bounces';
import { inTransaction, logger } from '@postroom/platform';

/** Reports recorded in one transaction at most. */
const MAX_BATCH = 1000;
/** The wait after a failure, in milliseconds; the reports stay in their table. */
const RETRY_MS = 500;

/**
 * Takes from the table what is to be reported and records it, as a provider's notifications would. Behind the answer to
 * the sender and many at once, it keeps up with the mail; in the same transaction as the few that arrive together it
 * would take most of the inbox's time.
 */
export class Reporter {
  #running: Promise<void> | undefined;
  #again = false;
  readonly #stopped = new AbortController();

  /** There is something to report. */
  wake(): void {
    this.#again = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#again && !this.#stopped.signal.aborted) this.wake();
    });
  }

  /** Resolves when everything is reported, or can't be now: the next start goes on. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      try {
        while ((await recordSome()) > 0);
      } catch (error) {
        if (this.#stopped.signal.aborted) return;
        logger.warn({ err: error }, 'reports could not be recorded; trying again');
        this.#again = true;
        await sleep(RETRY_MS, undefined, { signal: this.#stopped.signal }).catch(() => {});
      }
    }
  }
}

/** What one inbox takes another leaves, should several run. */
const TAKE = `
  DELETE FROM inbox_reports WHERE id IN (SELECT id FROM inbox_reports ORDER BY id LIMIT ${MAX_BATCH} FOR UPDATE SKIP LOCKED)
  RETURNING message_id AS "messageId", recipient, kind, detail, at`;

async function recordSome(): Promise<number> {
  return inTransaction(async (client) => {
    const { rows } = await client.query<Report>({ name: 'inbox-take-reports', text: TAKE });
    if (rows.length > 0) await recordReports(client, rows);
    return rows.length;
  });
}
