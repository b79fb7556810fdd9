import type { BlockList } from 'node:net';
import { type Certificate, cleanLine, config, emailProblem, logger, type Service } from '@postroom/platform';
import { LimitedSmtpServer, Refusal } from '@postroom/network/smtp-server';
import type { SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import { acceptEmptyUsername } from './empty-username.ts';
import { MAX_MESSAGE_BYTES, type SignedIn, SubmissionSession } from './session.ts';
import { refusalOf } from './refusal.ts';

/** Maximum recipients per SMTP transaction; clients send the rest in another one (RFC 5321 §4.5.3.1.10). */
const MAX_RECIPIENTS = 1_000;
const MAX_CLIENTS = 1000;
/** Time limit from connecting to successful authentication, in milliseconds. */
const AUTH_MS = 30_000;
const IDLE_MS = 5 * 60_000;
/** On shutdown, how long clients have to read the last replies, in milliseconds. */
const CLOSE_MS = 100;

export interface SubmissionOptions {
  host: string;
  /** 0 picks a free port. */
  port: number;
  tls: Certificate;
  /** Whether authentication requires TLS. */
  needsTls: boolean;
  /** Time limit for authentication, in milliseconds. */
  authMs?: number;
  /** Maximum concurrent connections per client address. */
  perAddress?: number;
  /** Maximum concurrent connections. A project may have as many as it leaves free. */
  total?: number;
  /** Proxies whose connections begin with a PROXY header. */
  proxies?: BlockList | undefined;
}

export interface Submission extends Service {
  port: number;
}

/**
 * Starts the SMTP submission server: with an API key as the password, submitting a message is equivalent to `POST /v1/emails`.
 * Messages are committed before the 250 reply.
 */
export async function startSubmission({
  host,
  port,
  tls,
  needsTls,
  authMs = AUTH_MS,
  perAddress = config.SMTP_CLIENT_CONNECTIONS,
  total = MAX_CLIENTS,
  proxies = config.SMTP_PROXY_PROTOCOL ? config.TRUSTED_PROXIES : undefined,
}: SubmissionOptions): Promise<Submission> {
  const submission = new SubmissionSession();
  const options: SMTPServerOptions = {
    ...tls,
    banner: 'Postroom',
    size: MAX_MESSAGE_BYTES,
    rejectOversized: true,
    authMethods: ['PLAIN', 'LOGIN'],
    allowInsecureAuth: !needsTls,
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: false,
    socketTimeout: IDLE_MS,
    closeTimeout: CLOSE_MS,
    onConnect: (_session, callback) => callback(),
    onAuth: ({ username, password }, session, callback) => {
      const credentials = { username: username ?? '', password: password ?? '' };
      submission.identify(credentials).then(
        ({ id }) => {
          if (!server.trustAs(id, session))
            return callback(new Refusal(421, '4.7.0 Too many connections of your project'));
          signedInBySession.set(session, { credentials, id });
          callback(null, { user: credentials.username || 'key' });
        },
        (error: unknown) => callback(notAuthenticated(refusalOf(error))),
      );
    },
    onMailFrom: ({ args }, session, callback) => {
      const problem = parameterProblem(args, MAIL_PARAMETERS);
      if (problem !== undefined) return callback(problem);
      submission.identify(signedInOf(session).credentials).then(
        () => callback(),
        (error: unknown) => callback(refusalOf(error)),
      );
    },
    onRcptTo: ({ address, args }, { envelope }, callback) => {
      const unknown = parameterProblem(args, []);
      if (unknown !== undefined) return callback(unknown);
      const isFull = envelope.rcptTo.length >= MAX_RECIPIENTS;
      if (isFull) return callback(new Refusal(452, `4.5.3 A message may have at most ${MAX_RECIPIENTS} recipients`));
      // Refused here, it doesn't keep the mail from its other recipients.
      const problem = emailProblem(address);
      callback(problem === undefined ? null : new Refusal(553, `5.1.3 The recipient's address ${problem}`));
    },
    onData: (stream, session, callback) => {
      const recipients = session.envelope.rcptTo.map(({ address }) => address);
      submission.take(stream, signedInOf(session), recipients).then(
        (answer) => callback(null, answer),
        (error: unknown) => callback(refusalOf(error)),
      );
    },
  };
  const server = new LimitedSmtpServer(options, { total, perAddress, untrustedMs: authMs, proxies });
  // A dropped connection must not crash the server.
  server.on('error', (error) => logger.debug({ err: error }, 'SMTP connection failed'));
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
  const stop = async () => {
    await submission.finish();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { port: (server.server.address() as { port: number }).port, servesClients: true, stop };
}

/** What the extensions that we offer add to MAIL; none of them adds anything to RCPT. */
const MAIL_PARAMETERS = ['SIZE', 'BODY', 'SMTPUTF8', 'AUTH'];

/** Refuses what we would not do (RFC 5321, 4.1.1.11): a client that asks for a delivery report (RFC 3461) would wait for it in vain. */
function parameterProblem(given: object | false, known: readonly string[]): Refusal | undefined {
  const unknown = Object.keys(given || {}).find((name) => !known.includes(name));
  return unknown === undefined
    ? undefined
    : new Refusal(555, `5.5.4 The parameter ${cleanLine(unknown, 40)} is not supported`);
}

acceptEmptyUsername();

const signedInBySession = new WeakMap<SMTPServerSession, SignedIn>();

function signedInOf(session: SMTPServerSession): SignedIn {
  return signedInBySession.get(session) ?? { credentials: { username: '', password: '' }, id: '' };
}

/** Problems with a key or its project become 535; only internal errors are temporary. */
function notAuthenticated({ responseCode, message }: Refusal): Refusal {
  if (responseCode === 421) return new Refusal(responseCode, message);
  const text = message.replace(/^[\d.]+ /, '');
  return responseCode === 451 ? new Refusal(454, `4.7.0 ${text}`) : new Refusal(535, `5.7.8 ${text}`);
}
