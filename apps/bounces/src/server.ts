import type { BlockList } from 'node:net';
import { type Certificate, config, DomainError, logger, type Service } from '@postroom/platform';
import { ChunkList } from '@postroom/network/chunk-list';
import { LimitedSmtpServer, Refusal } from '@postroom/network/smtp-server';
import type { SMTPServerDataStream, SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import { recipientOf, type Recipient } from './recipients.ts';
import { recordBounce } from './record-return.ts';

/** Maximum mail size in bytes: servers return whole messages. Only the beginning is read, which states the reason. */
const MAX_MAIL_BYTES = 60 * 1024 * 1024;
const MAX_READ_BYTES = 512 * 1024;
const MAX_CLIENTS = 200;
const MAX_RECIPIENTS = 20;
/** Maximum refused commands of a client that has named a valid recipient. */
const MAX_REFUSALS = 50;
const IDLE_MS = 60_000;
/** Time limit from connecting to the first valid recipient, in milliseconds. */
const RECIPIENT_MS = 60_000;
/** Time limit of a session, in milliseconds. */
const SESSION_MS = 15 * 60_000;
const CLOSE_MS = 100;

export interface BounceServerOptions {
  host: string;
  /** 0 picks a free port. */
  port: number;
  /** Certificate for STARTTLS, which isn't offered without one. */
  tls?: Certificate | undefined;
  /** Time limit until the first valid recipient, in milliseconds. */
  recipientMs?: number;
  /** Maximum concurrent connections per client address. */
  perAddress?: number;
  /** Maximum concurrent connections. A project may have as many as it leaves free. */
  total?: number;
  /** Proxies whose connections begin with a PROXY header. */
  proxies?: BlockList | undefined;
}

export interface BounceServer extends Service {
  port: number;
}

/**
 * Receives mail for the MAIL FROM subdomains: only to signed return addresses and the feedback loop address. It replies 250
 * once the report is committed. STARTTLS is optional, so that servers without TLS can still deliver bounces.
 */
export async function startBounceServer({
  host,
  port,
  tls,
  recipientMs = RECIPIENT_MS,
  perAddress = config.SMTP_CLIENT_CONNECTIONS,
  total = MAX_CLIENTS,
  proxies = config.SMTP_PROXY_PROTOCOL ? config.TRUSTED_PROXIES : undefined,
}: BounceServerOptions): Promise<BounceServer> {
  const inProgress = new Set<Promise<void>>();
  let stopping = false;
  const options: SMTPServerOptions = {
    ...tls,
    banner: 'Postroom bounces',
    size: MAX_MAIL_BYTES,
    disabledCommands: tls === undefined ? ['AUTH', 'STARTTLS'] : ['AUTH'],
    hideENHANCEDSTATUSCODES: false,
    disableReverseLookup: true,
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    onConnect: (_session, callback) => callback(stopping ? shuttingDown() : null),
    onMailFrom: (_address, _session, callback) => callback(stopping ? shuttingDown() : null),
    onRcptTo: ({ address }, session, callback) => {
      addRecipient(address, session)
        .then((recipient) => {
          if (!server.trustAs(tenantOf(recipient), session))
            throw new Refusal(421, '4.7.0 Too many connections with bounces of the same project; try again later');
        })
        .then(() => callback(), callback);
    },
    onData: (stream, session, callback) => {
      const work = receive(stream, session);
      inProgress.add(work);
      work.then(() => callback(null, 'recorded'), callback).finally(() => inProgress.delete(work));
    },
  };
  const server = new LimitedSmtpServer(options, {
    total,
    perAddress,
    untrustedMs: recipientMs,
    trustedRefusals: MAX_REFUSALS,
    sessionMs: SESSION_MS,
    proxies,
  });
  // A dropped connection must not crash the server.
  server.on('error', (error) => logger.debug({ err: error }, 'SMTP connection failed'));
  const address = await new Promise<{ port: number }>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(port, host, () => resolve(server.server.address() as { port: number }));
  });
  const stop = async () => {
    stopping = true;
    await Promise.allSettled(inProgress);
    await new Promise<void>((resolve) => server.close(resolve));
  };
  return { port: address.port, servesClients: true, stop };
}

const shuttingDown = () => new Refusal(421, '4.3.2 The server is shutting down; try again later');

/**
 * Whose share of the connections a client takes: the project's, because every recipient knows a valid address, and may use it from
 * many addresses. Complaints, and deleted messages, have one share: anyone can name the domains of many customers.
 */
const tenantOf = (recipient: Recipient) => (recipient.kind === 'message' && recipient.project) || recipient.kind;

/** The recipients of the mail that a client is sending, by its envelope. */
const recipientsOf = new WeakMap<SMTPServerSession['envelope'], Map<string, Recipient>>();

async function addRecipient(address: string, { envelope }: SMTPServerSession): Promise<Recipient> {
  if (envelope.rcptTo.length >= MAX_RECIPIENTS)
    throw new Refusal(452, `4.5.3 A mail may have at most ${MAX_RECIPIENTS} recipients`);
  const recipient = await resolveRecipient(address);
  if (recipient === undefined) throw new Refusal(550, '5.1.1 No such address');
  const recipients = recipientsOf.get(envelope) ?? new Map<string, Recipient>();
  recipientsOf.set(envelope, recipients.set(address.toLowerCase(), recipient));
  return recipient;
}

async function receive(stream: SMTPServerDataStream, { envelope }: SMTPServerSession): Promise<void> {
  const chunks = new ChunkList();
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (chunks.length < MAX_READ_BYTES) chunks.push(chunk);
  }
  if (stream.sizeExceeded) throw new Refusal(552, `5.3.4 Message exceeds the maximum of ${MAX_MAIL_BYTES} bytes`);
  const raw = chunks.concat().subarray(0, MAX_READ_BYTES);
  if (raw.includes(0)) throw new Refusal(550, '5.6.0 A message must not contain a NUL character');
  for (const recipient of recipientsOf.get(envelope)?.values() ?? []) await record(recipient, raw);
}

/** Replies 451 if the database is unavailable or many bounces of the project wait; senders retry for days. */
async function resolveRecipient(address: string): Promise<Recipient | undefined> {
  try {
    return await recipientOf(address);
  } catch (error) {
    throw temporaryFailure(error);
  }
}

async function record(recipient: Recipient, raw: Buffer): Promise<void> {
  try {
    await recordBounce(recipient, raw);
  } catch (error) {
    throw temporaryFailure(error);
  }
}

function temporaryFailure(error: unknown): Refusal {
  if (error instanceof DomainError && error.code === 'rate_limited')
    logger.info('bounce deferred, because many of its project wait');
  else logger.error({ err: error }, 'bounce processing failed');
  return new Refusal(451, '4.3.0 Try again later');
}
