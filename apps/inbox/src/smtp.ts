import { setTimeout as sleep } from 'node:timers/promises';
import { logger } from '@postroom/platform';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { summarize } from './headers.ts';
import type { Intake } from './intake.ts';
import type { Readers } from './readers.ts';
import { actOf, Deferrals, SLOW_MS } from './simulator.ts';

/** The largest message taken: one of 40 MB with its attachments in base64, and a margin. */
const MAX_MESSAGE_BYTES = 60 * 1024 * 1024;
/** Messages that are in memory at once, in bytes, and connections. */
const MAX_HELD_BYTES = 512 * 1024 * 1024;
const MAX_CLIENTS = 500;
const IDLE_MS = 5 * 60_000;
/** When the inbox ends, senders have this long to hear the last answers before their connections are closed. */
const CLOSE_MS = 100;

/** An answer other than 250. */
class Refusal extends Error {
  readonly responseCode: number;

  constructor(responseCode: number, message: string) {
    super(message);
    this.responseCode = responseCode;
  }
}

export interface SmtpListener {
  port: number;
  stop: () => Promise<void>;
}

/** Takes mail for any address and answers 250 once it is kept. Any user name and password will do. */
export async function listenSmtp(host: string, port: number, intake: Intake, readers: Readers): Promise<SmtpListener> {
  const taker = new Taker(intake, readers);
  const server = new SMTPServer({
    banner: 'Postroom inbox: nothing leaves this machine',
    size: MAX_MESSAGE_BYTES,
    rejectOversized: true,
    disabledCommands: ['STARTTLS'],
    hideENHANCEDSTATUSCODES: false,
    authOptional: true,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    maxClients: MAX_CLIENTS,
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    onAuth: (auth, _session, callback) => callback(null, { user: auth.username ?? 'anyone' }),
    // Answered in the same turn: the default ones wait for the next, which costs a sender time on every command.
    onConnect: (_session, callback) => callback(),
    onMailFrom: (_address, _session, callback) => callback(taker.refusal()),
    onRcptTo: ({ address }, _session, callback) => callback(taker.refusal(address)),
    onData: (stream, session, callback) => {
      taker.take(stream, session).then(() => callback(null, 'kept'), callback);
    },
  });
  // A sender that drops its connection is its own business; the server lives on.
  server.on('error', (error) => logger.debug({ err: error }, 'a connection to the inbox broke'));
  const address = await new Promise<{ port: number }>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(port, host, () => resolve(server.server.address() as { port: number }));
  });
  const stop = async () => {
    await taker.finish();
    await new Promise<void>((resolve) => server.close(resolve));
  };
  return { port: address.port, stop };
}

/** Decides what becomes of each message, until it is told to finish. */
class Taker {
  readonly #intake: Intake;
  readonly #readers: Readers;
  readonly #deferrals = new Deferrals();
  readonly #keeping = new Set<Promise<void>>();
  #finishing = false;
  #heldBytes = 0;

  constructor(intake: Intake, readers: Readers) {
    this.#intake = intake;
    this.#readers = readers;
  }

  /** Why nothing is taken now, or nothing for this address. */
  refusal(address = ''): Refusal | null {
    if (this.#finishing) return new Refusal(421, 'The inbox is ending');
    return actOf(address) === 'refused' ? new Refusal(550, 'No such mailbox (simulated)') : null;
  }

  /** Resolves once the message is kept. */
  async take(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<void> {
    const chunks: Buffer[] = [];
    let length = 0;
    let isFull = false;
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        isFull ||= this.#heldBytes + chunk.length > MAX_HELD_BYTES;
        if (stream.sizeExceeded || isFull) continue;
        chunks.push(chunk);
        length += chunk.length;
        this.#heldBytes += chunk.length;
      }
      if (stream.sizeExceeded) return; // the server itself answers 552
      if (isFull) throw new Refusal(451, 'Too many large messages arrive at once; try again');
      const refusal = this.refusal();
      if (refusal !== null) throw refusal;
      const keeping = this.#keep(Buffer.concat(chunks, length), session);
      this.#keeping.add(keeping);
      await keeping.finally(() => this.#keeping.delete(keeping));
    } finally {
      this.#heldBytes -= length;
    }
  }

  async #keep(raw: Buffer, { envelope }: SMTPServerSession): Promise<void> {
    const recipients = envelope.rcptTo.map((recipient) => recipient.address);
    const acts = recipients.map(actOf);
    if (acts.includes('deferred') && this.#deferrals.defers(summarize(raw).messageId ?? ''))
      throw new Refusal(451, 'Try again later (simulated)');
    if (acts.includes('slow')) await sleep(SLOW_MS);
    const mailFrom = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
    try {
      await this.#intake.keep({ mailFrom, recipients, raw });
      for (const act of acts) this.#readers.notice(act, raw);
    } catch (error) {
      logger.error({ err: error }, 'a mail could not be kept');
      throw new Refusal(451, 'The mail could not be kept; try again');
    }
  }

  /** Takes no more and waits for what is being kept: a 421 for a mail that is kept all the same would bring it again. */
  async finish(): Promise<void> {
    this.#finishing = true;
    await Promise.allSettled(this.#keeping);
  }
}
