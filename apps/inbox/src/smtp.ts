import { logger } from '@postroom/platform';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { summarize } from './headers.ts';
import type { Intake } from './intake.ts';
import { actOf, Deferrals, SLOW_MS } from './simulator.ts';

/** The largest message taken: one of 40 MB with its attachments in base64, and a margin. */
const MAX_MESSAGE_BYTES = 60 * 1024 * 1024;
const IDLE_MS = 5 * 60_000;
/** How long a sender may take to finish when the inbox ends; idle connections are then told 421. */
const CLOSE_MS = 1_000;

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
export async function listenSmtp(host: string, port: number, intake: Intake): Promise<SmtpListener> {
  const deferrals = new Deferrals();
  const server = new SMTPServer({
    banner: 'Postroom inbox: nothing leaves this machine',
    size: MAX_MESSAGE_BYTES,
    rejectOversized: true,
    disabledCommands: ['STARTTLS'],
    hideENHANCEDSTATUSCODES: false,
    authOptional: true,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    onAuth: (auth, _session, callback) => callback(null, { user: auth.username ?? 'anyone' }),
    // Answered in the same turn: the default ones wait for the next, which costs a sender time on every command.
    onConnect: (_session, callback) => callback(),
    onMailFrom: (_address, _session, callback) => callback(),
    onRcptTo: ({ address }, _session, callback) =>
      callback(actOf(address) === 'refused' ? new Refusal(550, 'No such mailbox (simulated)') : null),
    onData: (stream, session, callback) => {
      take(stream, session, intake, deferrals).then(() => callback(null, 'kept'), callback);
    },
  });
  // A sender that drops its connection is its own business; the server lives on.
  server.on('error', (error) => logger.debug({ err: error }, 'a connection to the inbox broke'));
  const address = await new Promise<{ port: number }>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(port, host, () => resolve(server.server.address() as { port: number }));
  });
  return { port: address.port, stop: () => new Promise((resolve) => server.close(resolve)) };
}

async function take(stream: SMTPServerDataStream, session: SMTPServerSession, intake: Intake, deferrals: Deferrals) {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) if (!stream.sizeExceeded) chunks.push(chunk as Buffer);
  if (stream.sizeExceeded) return; // the server itself answers 552
  const raw = Buffer.concat(chunks);
  const recipients = session.envelope.rcptTo.map((recipient) => recipient.address);
  const acts = recipients.map(actOf);
  if (acts.includes('deferred') && defers(raw, deferrals)) throw new Refusal(451, 'Try again later (simulated)');
  if (acts.includes('slow')) await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
  const mailFrom = session.envelope.mailFrom === false ? '' : session.envelope.mailFrom.address;
  try {
    await intake.keep({ mailFrom, recipients, raw });
  } catch (error) {
    logger.error({ err: error }, 'a mail could not be kept');
    throw new Refusal(451, 'The mail could not be kept; try again');
  }
}

function defers(raw: Buffer, deferrals: Deferrals): boolean {
  const { messageId } = summarize(raw);
  return messageId !== undefined && deferrals.defers(messageId);
}
