import { type Certificate, config, logger, type Service } from '@postroom/platform';
import { LimitedSmtpServer } from '@postroom/platform/smtp-server';
import type { SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import { type Credentials, SubmissionSession, MAX_MESSAGE_BYTES } from './session.ts';
import { Refusal, refusalOf } from './refusal.ts';

/** Addresses that one mail may go to, in several messages; a client sends the rest in another (RFC 5321, 4.5.3.1.10). */
const MAX_RECIPIENTS = 1_000;
const MAX_CLIENTS = 1000;
/** How long a client has from connecting until its key is known to be good. */
const AUTH_MS = 30_000;
const IDLE_MS = 5 * 60_000;
/** When the program ends, clients have this long to hear the last answers before their connections are closed. */
const CLOSE_MS = 100;

export interface SubmissionOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  tls: Certificate;
  /** Whether a key is taken over TLS only. */
  needsTls: boolean;
  /** How long a client has until it has shown its key, in milliseconds. */
  authMs?: number;
  /** Connections that one client address may have at once. */
  perAddress?: number;
}

export interface Submission extends Service {
  port: number;
}

/**
 * Takes mail from programs that speak SMTP: with an API key as the password, a mail is what `POST /v1/emails` takes. It is
 * committed before it is answered 250.
 */
export async function startSubmission({
  host,
  port,
  tls,
  needsTls,
  authMs = AUTH_MS,
  perAddress = config.SMTP_CLIENT_CONNECTIONS,
}: SubmissionOptions): Promise<Submission> {
  const desk = new SubmissionSession();
  const options: SMTPServerOptions = {
    ...tls,
    banner: 'Postroom',
    size: MAX_MESSAGE_BYTES,
    rejectOversized: true,
    authMethods: ['PLAIN', 'LOGIN'],
    allowInsecureAuth: !needsTls,
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: true, // the library has one for every 550; ours stand in the words
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    onConnect: (_session, callback) => callback(),
    onAuth: ({ username, password }, session, callback) => {
      const credentials = { username: username ?? '', password: password ?? '' };
      desk.identify(credentials).then(
        () => {
          keys.set(session, credentials);
          server.trust(session);
          callback(null, { user: credentials.username || 'key' });
        },
        (error: unknown) => callback(notAuthenticated(refusalOf(error))),
      );
    },
    onMailFrom: (_address, session, callback) => {
      desk.identify(credentialsOf(session)).then(
        () => callback(),
        (error: unknown) => callback(refusalOf(error)),
      );
    },
    onRcptTo: (_address, { envelope }, callback) => {
      const isFull = envelope.rcptTo.length >= MAX_RECIPIENTS;
      callback(isFull ? new Refusal(452, `4.5.3 A mail goes to ${MAX_RECIPIENTS} addresses at most`) : null);
    },
    onData: (stream, session, callback) => {
      const recipients = session.envelope.rcptTo.map(({ address }) => address);
      desk.take(stream, credentialsOf(session), recipients).then(
        (answer) => callback(null, answer),
        (error: unknown) => callback(refusalOf(error)),
      );
    },
  };
  const server = new LimitedSmtpServer(options, { total: MAX_CLIENTS, perAddress, untrustedMs: authMs });
  // A client that drops its connection is its own business; the server lives on.
  server.on('error', (error) => logger.debug({ err: error }, 'a connection of an SMTP client broke'));
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
  const stop = async () => {
    await desk.finish();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { port: (server.server.address() as { port: number }).port, stop };
}

/** What each connection has given. */
const keys = new WeakMap<SMTPServerSession, Credentials>();

function credentialsOf(session: SMTPServerSession): Credentials {
  return keys.get(session) ?? { username: '', password: '' };
}

/** Whatever is wrong with a key or its project is 535; only what is our own fault may be tried again. */
function notAuthenticated({ responseCode, message }: Refusal): Refusal {
  if (responseCode === 421) return new Refusal(responseCode, message);
  const words = message.replace(/^[\d.]+ /, '');
  return responseCode === 451 ? new Refusal(454, `4.7.0 ${words}`) : new Refusal(535, `5.7.8 ${words}`);
}
