import { type Certificate, config, logger, type Service } from '@postroom/platform';
import { LimitedSmtpServer } from '@postroom/platform/smtp-server';
import type { SMTPServerDataStream, SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import { recipientOf, type Recipient } from './recipients.ts';
import { recordBounce } from './record-return.ts';

/** Largest mail taken, in bytes: servers return a mail whole. What says why it came back stands at its beginning. */
const MAX_MAIL_BYTES = 60 * 1024 * 1024;
const MAX_READ_BYTES = 512 * 1024;
const MAX_CLIENTS = 200;
const MAX_RECIPIENTS = 20;
const IDLE_MS = 60_000;
/** How long a sender has from connecting until it names an address that is ours. */
const RECIPIENT_MS = 60_000;
/** How long a sender has for everything. */
const SESSION_MS = 15 * 60_000;
const CLOSE_MS = 100;

/** An answer other than 250. */
class Refusal extends Error {
  readonly responseCode: number;

  constructor(responseCode: number, message: string) {
    super(message);
    this.responseCode = responseCode;
  }
}

export interface BounceServerOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** What STARTTLS is done with; without one it is not offered. */
  tls?: Certificate | undefined;
  /** How long a sender has until it names an address that is ours, in milliseconds. */
  recipientMs?: number;
  /** Connections that one client address may have at once. */
  perAddress?: number;
}

export interface BounceServer extends Service {
  port: number;
}

/**
 * Takes mail for the MAIL FROM subdomains: for return addresses that we signed and for the address of feedback loops, and for
 * no other. It answers 250 when what the mail says is committed. STARTTLS is offered and never asked for, since a server that
 * can't do it would keep what it has to tell.
 */
export async function startBounceServer({
  host,
  port,
  tls,
  recipientMs = RECIPIENT_MS,
  perAddress = config.SMTP_CLIENT_CONNECTIONS,
}: BounceServerOptions): Promise<BounceServer> {
  const taking = new Set<Promise<void>>();
  let finishing = false;
  const options: SMTPServerOptions = {
    ...tls,
    banner: 'Postroom takes returned mail',
    size: MAX_MAIL_BYTES,
    disabledCommands: tls === undefined ? ['AUTH', 'STARTTLS'] : ['AUTH'],
    hideENHANCEDSTATUSCODES: false,
    disableReverseLookup: true,
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    onConnect: (_session, callback) => callback(finishing ? new Refusal(421, 'Try again later') : null),
    onMailFrom: (_address, _session, callback) => callback(finishing ? new Refusal(421, 'Try again later') : null),
    onRcptTo: ({ address }, session, callback) => {
      checkRecipient(address, session)
        .then(() => server.trust(session))
        .then(() => callback(), callback);
    },
    onData: (stream, session, callback) => {
      const work = take(stream, session);
      taking.add(work);
      work.then(() => callback(null, 'recorded'), callback).finally(() => taking.delete(work));
    },
  };
  const server = new LimitedSmtpServer(options, {
    total: MAX_CLIENTS,
    perAddress,
    untrustedMs: recipientMs,
    sessionMs: SESSION_MS,
  });
  // A sender that drops its connection is its own business; the server lives on.
  server.on('error', (error) => logger.debug({ err: error }, 'a connection of returned mail broke'));
  const address = await new Promise<{ port: number }>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(port, host, () => resolve(server.server.address() as { port: number }));
  });
  const stop = async () => {
    finishing = true;
    await Promise.allSettled(taking);
    await new Promise<void>((resolve) => server.close(resolve));
  };
  return { port: address.port, stop };
}

async function checkRecipient(address: string, { envelope }: SMTPServerSession): Promise<void> {
  if (envelope.rcptTo.length >= MAX_RECIPIENTS) throw new Refusal(452, 'Too many recipients');
  const recipient = await known(address);
  if (recipient === undefined) throw new Refusal(550, 'No such address');
}

async function take(stream: SMTPServerDataStream, { envelope }: SMTPServerSession): Promise<void> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (length < MAX_READ_BYTES) chunks.push(chunk);
    length += chunk.length;
  }
  if (stream.sizeExceeded) throw new Refusal(552, 'The mail is too large');
  const raw = Buffer.concat(chunks).subarray(0, MAX_READ_BYTES);
  if (raw.includes(0)) throw new Refusal(550, 'A mail must not contain a NUL character');
  for (const { address } of envelope.rcptTo) {
    const recipient = await known(address);
    if (recipient !== undefined) await record(recipient, raw);
  }
}

/** While the database does not answer, senders are asked to come again, as they do for days. */
async function known(address: string): Promise<Recipient | undefined> {
  try {
    return await recipientOf(address);
  } catch (error) {
    throw notNow(error);
  }
}

async function record(recipient: Recipient, raw: Buffer): Promise<void> {
  try {
    await recordBounce(recipient, raw);
  } catch (error) {
    throw notNow(error);
  }
}

function notNow(error: unknown): Refusal {
  logger.error({ err: error }, 'a returned mail could not be taken');
  return new Refusal(451, 'Try again later');
}
