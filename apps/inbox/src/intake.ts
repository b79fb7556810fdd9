import { retryOn, DEADLOCK, emailKey, newId, pool, SERIALIZATION_FAILURE } from '@postroom/platform';
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

/** Inserts the mails and their pending reports in one statement, and thus one transaction. */
const STORE = `
  WITH kept AS (
    INSERT INTO inbox_mails (id, message_id, mail_from, recipient, sender, subject, size, raw, received_at)
    SELECT id, message_id, mail_from, recipient, sender, subject, size, substring($8::bytea FROM start FOR size), $10
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[], $9::int[])
      AS mail(id, message_id, mail_from, recipient, sender, subject, size, start)
  )
  INSERT INTO inbox_reports (message_id, recipient, kind, detail, at)
  SELECT message_id, recipient, kind, detail, $10
  FROM unnest($11::text[], $12::text[], $13::text[], $14::text[]) AS report(message_id, recipient, kind, detail)`;

async function store(group: Waiting[]): Promise<void> {
  const receivedAt = new Date();
  const offsets: number[] = [];
  let length = 0;
  for (const { raw } of group) {
    offsets.push(length + 1);
    length += raw.length;
  }
  const mails = group.flatMap(({ summary, mailFrom, recipients, raw }, part) =>
    recipients.map((recipient) => ({
      ...summary,
      id: newId('mai'),
      mailFrom,
      recipient: emailKey(recipient),
      size: raw.length,
      start: offsets[part]!,
    })),
  );
  const reports = group.flatMap((mail) => reportsOf(mail.summary.messageId, mail.recipients));
  await pool.query({
    name: 'inbox-store',
    text: STORE,
    values: [
      mails.map((mail) => mail.id),
      mails.map((mail) => mail.messageId ?? null),
      mails.map((mail) => mail.mailFrom),
      mails.map((mail) => mail.recipient),
      mails.map((mail) => mail.sender),
      mails.map((mail) => mail.subject),
      mails.map((mail) => mail.size),
      // All bodies are sent as one binary value and split by the server: an array would be sent as text.
      Buffer.concat(group.map((mail) => mail.raw)),
      mails.map((mail) => mail.start),
      receivedAt,
      reports.map((report) => report.messageId),
      reports.map((report) => report.recipient),
      reports.map((report) => report.kind),
      reports.map((report) => report.detail ?? null),
    ],
  });
}
