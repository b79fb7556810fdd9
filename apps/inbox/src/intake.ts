import { recordReports } from '@postroom/emails';
import { inTransaction, newId } from '@postroom/platform';
import type pg from 'pg';
import { type Summary, summarize } from './headers.ts';
import { reportsOf } from './simulator.ts';

/** A message as SMTP brought it. */
export interface Incoming {
  mailFrom: string;
  recipients: string[];
  raw: Buffer;
}

/** A mail that has just been kept, for those who watch the list. */
export interface KeptMail extends Summary {
  id: string;
  recipient: string;
  mailFrom: string;
  size: number;
  receivedAt: Date;
}

interface Waiting extends Incoming {
  summary: Summary;
  kept: () => void;
  failed: (error: unknown) => void;
}

/** Messages that go into one INSERT at most. */
const MAX_GROUP = 500;
const MAX_GROUP_BYTES = 32 * 1024 * 1024;
/** Transactions at a time: while one waits for the disk, the next is being put together. */
const MAX_WRITERS = 2;
/** A deadlock or a serialization failure: the same transaction may succeed when it is run again. */
const CONFLICTS = new Set(['40P01', '40001']);
const MAX_ATTEMPTS = 5;
/** The classes of errors that are about the values. */
const BAD_DATA = /^2[1-3]/;

/**
 * Keeps mails in PostgreSQL. Those that arrive while a transaction is under way go together into the next one, so that
 * the cost of a commit is shared without making a single mail wait.
 */
export class Intake {
  #waiting: Waiting[] = [];
  #writers = 0;
  readonly #onKept: (mails: KeptMail[]) => void;

  constructor(onKept: (mails: KeptMail[]) => void) {
    this.#onKept = onKept;
  }

  /** Resolves when the mail is committed, together with what a provider would report of it. */
  keep(mail: Incoming): Promise<void> {
    return new Promise((kept, failed) => {
      this.#waiting.push({ ...mail, summary: summarize(mail.raw), kept, failed });
      // What the same turn of the event loop brings on other connections joins in.
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

  async #write(group: Waiting[], attempt = 1): Promise<void> {
    try {
      const kept = await store(group);
      for (const mail of group) mail.kept();
      this.#onKept(kept);
    } catch (error) {
      const code = String((error as { code?: unknown }).code);
      if (CONFLICTS.has(code) && attempt < MAX_ATTEMPTS) return this.#write(group, attempt + 1);
      if (group.length === 1 || !BAD_DATA.test(code)) return group.forEach((mail) => mail.failed(error));
      // One message that PostgreSQL objects to must not cost the others of its group.
      for (const mail of group) await this.#write([mail]);
    }
  }
}

async function store(group: Waiting[]): Promise<KeptMail[]> {
  const receivedAt = new Date();
  const mails = group.flatMap(({ summary, mailFrom, recipients, raw }, part) =>
    recipients.map((recipient) => ({
      ...summary,
      id: newId('mai'),
      mailFrom,
      recipient: recipient.toLowerCase(),
      size: raw.length,
      part,
      receivedAt,
    })),
  );
  const reports = group.flatMap((mail) => reportsOf(mail.summary.messageId, mail.recipients, receivedAt));
  await inTransaction(async (client) => {
    await insert(client, group, mails, receivedAt);
    if (reports.length > 0) await recordReports(client, reports);
  });
  return mails.map(({ part: _, ...mail }) => mail);
}

/** All bodies travel as one binary value and are cut up by the server: an array of them would be sent as text. */
async function insert(
  client: pg.PoolClient,
  group: Waiting[],
  mails: (KeptMail & { part: number })[],
  receivedAt: Date,
) {
  const offsets: number[] = [];
  let length = 0;
  for (const { raw } of group) {
    offsets.push(length + 1);
    length += raw.length;
  }
  await client.query({
    name: 'inbox-insert',
    text: `INSERT INTO inbox_mails (id, message_id, mail_from, recipient, sender, subject, size, raw, received_at)
           SELECT id, message_id, mail_from, recipient, sender, subject, size, substring($8::bytea FROM start FOR size), $10
           FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[], $9::int[])
             AS mail(id, message_id, mail_from, recipient, sender, subject, size, start)`,
    values: [
      mails.map((mail) => mail.id),
      mails.map((mail) => mail.messageId ?? null),
      mails.map((mail) => mail.mailFrom),
      mails.map((mail) => mail.recipient),
      mails.map((mail) => mail.sender),
      mails.map((mail) => mail.subject),
      mails.map((mail) => mail.size),
      Buffer.concat(group.map((mail) => mail.raw)),
      mails.map((mail) => offsets[mail.part]!),
      receivedAt,
    ],
  });
}
