import { insertMails } from '@postroom/emails/inbox';
import { retryOn, DEADLOCK, emailKey, newId, SERIALIZATION_FAILURE } from '@postroom/platform';
import { type Summary, summarize } from './headers.ts';
import { reportsOf } from './simulator.ts';

/** A message received over SMTP. */
export interface Incoming {
  mailFrom: string;
  recipients: string[];
  raw: Buffer;
}

interface Waiting extends Incoming {
  summary: Summary;
  kept: () => void;
  failed: (error: unknown) => void;
}

/** Maximum messages per INSERT. */
const MAX_GROUP = 500;
const MAX_GROUP_BYTES = 32 * 1024 * 1024;
/** Concurrent transactions: while one waits for the disk, the next is assembled. */
const MAX_WRITERS = 2;
/** Errors that a retry of the same transaction may resolve. */
const CONFLICTS = [DEADLOCK, SERIALIZATION_FAILURE];
/** SQLSTATE classes of errors caused by the values. */
const BAD_DATA = /^2[1-3]/;

/**
 * Stores mails in PostgreSQL. Mails that arrive during a transaction share the next one (group commit), so commits are
 * amortized without delaying single mails.
 */
export class Intake {
  #waiting: Waiting[] = [];
  #writers = 0;
  readonly #onKept: (count: number) => void;

  /** `onKept` receives the number of messages of each commit. */
  constructor(onKept: (count: number) => void) {
    this.#onKept = onKept;
  }

  /** Resolves when the mail and its pending reports are committed. */
  keep(mail: Incoming): Promise<void> {
    return new Promise((kept, failed) => {
      this.#waiting.push({ ...mail, summary: summarize(mail.raw), kept, failed });
      // Mails from other connections in the same event loop turn join the batch.
      if (this.#waiting.length === 1) setImmediate(() => this.#start());
    });
  }

  #start(): void {
    while (this.#writers < MAX_WRITERS && this.#waiting.length > 0) {
      this.#writers++;
      void this.#write(this.#nextGroup()).finally(() => {
        this.#writers--;
        this.#start();
      });
    }
  }

  #nextGroup(): Waiting[] {
    let bytes = 0;
    const tooMuch = this.#waiting.findIndex((mail) => (bytes += mail.raw.length) > MAX_GROUP_BYTES);
    return this.#waiting.splice(0, Math.min(MAX_GROUP, tooMuch === -1 ? MAX_GROUP : Math.max(1, tooMuch)));
  }

  async #write(group: Waiting[]): Promise<void> {
    try {
      await retryOn(CONFLICTS, () => store(group));
      for (const mail of group) mail.kept();
      this.#onKept(group.length);
    } catch (error) {
      const code = String((error as { code?: unknown }).code);
      if (group.length === 1 || !BAD_DATA.test(code)) return group.forEach((mail) => mail.failed(error));
      // One message that PostgreSQL rejects must not fail the others of its group.
      for (const mail of group) await this.#write([mail]);
    }
  }
}

async function store(group: Waiting[]): Promise<void> {
  const offsets: number[] = [];
  let length = 0;
  for (const { raw } of group) {
    offsets.push(length + 1);
    length += raw.length;
  }
  const mails = group.flatMap(({ summary, mailFrom, recipients, raw }, part) =>
    recipients.map((recipient) => ({
      ...summary,
      messageId: summary.messageId ?? null,
      id: newId('mai'),
      mailFrom,
      recipient: emailKey(recipient),
      size: raw.length,
      start: offsets[part]!,
    })),
  );
  const reports = group.flatMap((mail) => reportsOf(mail.summary.messageId, mail.recipients));
  await insertMails(mails, Buffer.concat(group.map((mail) => mail.raw)), reports);
}
