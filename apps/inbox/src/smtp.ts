import { setTimeout as sleep } from 'node:timers/promises';
import { logger } from '@postroom/platform';
import { ChunkList } from '@postroom/network/chunk-list';
import { HalfOpenSmtpServer, Refusal } from '@postroom/network/smtp-server';
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import { summarize } from './headers.ts';
import type { Intake } from './intake.ts';
import type { Readers } from './readers.ts';
import { behaviorOf, Deferrals, SLOW_MS } from './simulator.ts';

/** Maximum message size: 40 MB with base64 attachments, plus a margin. */
const MAX_MESSAGE_BYTES = 60 * 1024 * 1024;
/** Maximum bytes of messages in memory, and maximum connections. */
const MAX_HELD_BYTES = 512 * 1024 * 1024;
const MAX_CLIENTS = 500;
const IDLE_MS = 5 * 60_000;
/** How long senders can read the last responses on shutdown before their connections are closed. */
const CLOSE_MS = 100;

export interface SmtpListener {
  port: number;
  stop: () => Promise<void>;
}

/** Accepts mail for any address with any credentials, and responds 250 once it is stored. */
export async function listenSmtp(host: string, port: number, intake: Intake, readers: Readers): Promise<SmtpListener> {
  const taker = new Taker(intake, readers);
  const server = new HalfOpenSmtpServer({
    banner: 'Postroom inbox: mail is not delivered',
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
    // Respond synchronously: the default handlers defer each response to the next event loop turn, which slows down
    // senders.
    onConnect: (_session, callback) => callback(),
    onMailFrom: (_address, _session, callback) => callback(taker.refusal()),
    onRcptTo: ({ address }, _session, callback) => callback(taker.refusal(address)),
    onData: (stream, session, callback) => {
      taker.take(stream, session).then(() => callback(null, 'kept'), callback);
    },
  });
  // A dropped connection must not crash the server.
  server.on('error', (error) => logger.debug({ err: error }, 'inbox connection failed'));
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

/** Decides the response to each message, until shutdown. */
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

  /** The reason to reject mail now, or for this address. */
  refusal(address = ''): Refusal | null {
    if (this.#finishing) return new Refusal(421, 'The inbox is shutting down');
    return behaviorOf(address) === 'refused' ? new Refusal(550, 'No such mailbox (simulated)') : null;
  }

  /** Resolves once the message is stored. */
  async take(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<void> {
    const chunks = new ChunkList();
    let isFull = false;
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        isFull ||= this.#heldBytes + chunk.length > MAX_HELD_BYTES;
        if (stream.sizeExceeded || isFull) continue;
        chunks.push(chunk);
        this.#heldBytes += chunk.length;
      }
      if (stream.sizeExceeded) return; // smtp-server itself responds with 552
      if (isFull) throw new Refusal(451, 'Too many large messages in flight; try again');
      const refusal = this.refusal();
      if (refusal !== null) throw refusal;
      const keeping = this.#keep(chunks.concat(), session);
      this.#keeping.add(keeping);
      await keeping.finally(() => this.#keeping.delete(keeping));
    } finally {
      this.#heldBytes -= chunks.length;
    }
  }

  async #keep(raw: Buffer, { envelope }: SMTPServerSession): Promise<void> {
    const recipients = envelope.rcptTo.map((recipient) => recipient.address);
    const behaviors = recipients.map(behaviorOf);
    if (behaviors.includes('deferred') && this.#deferrals.defers(summarize(raw).messageId ?? ''))
      throw new Refusal(451, 'Temporary failure (simulated)');
    if (behaviors.includes('slow')) await sleep(SLOW_MS);
    const mailFrom = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
    try {
      await this.#intake.keep({ mailFrom, recipients, raw });
      for (const behavior of behaviors) this.#readers.notice(behavior, raw);
    } catch (error) {
      logger.error({ err: error }, 'could not store a mail');
      throw new Refusal(451, 'The mail could not be stored; try again');
    }
  }

  /**
   * Stops accepting and waits for mail being stored: a 421 for a mail that is stored anyway would cause a duplicate.
   */
  async finish(): Promise<void> {
    this.#finishing = true;
    await Promise.allSettled(this.#keeping);
  }
}
