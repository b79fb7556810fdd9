import { hostDeferred, outcomeOf } from './outcome.ts';
import type { SendOutcome } from './outcome.ts';
import { isLoopback } from './relay-url.ts';
import type { Relay } from './relay-url.ts';
import type { ReplyReader } from './replies.ts';
import type { Timeouts } from './timeouts.ts';
import type { SmtpConnection } from './connection.ts';

/** Capabilities that the server advertised in its EHLO reply. */
export interface ServerCapabilities {
  readonly pipelining: boolean;
  /** BDAT (RFC 3030) together with PIPELINING, so several messages fit in one write. */
  readonly chunking: boolean;
  readonly eightBitMime: boolean;
  readonly smtpUtf8: boolean;
  /** Delivery status notifications (RFC 3461), unless the relay's settings disable them. */
  readonly dsn: boolean;
  /** Maximum message size in octets; Infinity if the server states none or 0. */
  readonly size: number;
  readonly announcesSize: boolean;
}

/** The connection could not be set up. Carries the outcome for the messages waiting for it. */
export class HandshakeError extends Error {
  readonly outcome: SendOutcome;

  constructor(outcome: SendOutcome) {
    super(outcome.answer);
    this.name = 'HandshakeError';
    this.outcome = outcome;
  }
}

interface Reply {
  readonly code: number;
  readonly answer: string;
  readonly lines: readonly string[];
}

/**
 * Connects, sends EHLO, upgrades to TLS and authenticates.
 * @throws HandshakeError if any step fails.
 */
export async function performHandshake(
  connection: SmtpConnection,
  relay: Relay,
  timeouts: Timeouts,
): Promise<ServerCapabilities> {
  const channel = new CommandChannel(connection);
  await channel.waitFor(timeouts.connectMs, 'the connection', (ready) => connection.open(ready));
  const greeting = await channel.reply(timeouts.greetingMs, 'the greeting');
  if (greeting.code !== 220) throw hostRefused(greeting);

  let extensions = await greet(channel, relay, timeouts);
  if (!connection.encrypted && (extensions.has('STARTTLS') || relay.requireTls)) {
    if (!extensions.has('STARTTLS'))
      throw new HandshakeError(
        hostDeferred(
          'The mail server does not offer STARTTLS, and mail is not sent in the clear. Check the port and the encryption',
        ),
      );
    const agreed = await channel.command('STARTTLS', timeouts.commandMs);
    if (agreed.code !== 220) throw hostRefused(agreed);
    await channel.waitFor(timeouts.connectMs, 'TLS', (ready) => connection.startTls(ready));
    extensions = await greet(channel, relay, timeouts);
  }
  if (relay.credentials) await authenticate(channel, connection, relay, extensions, timeouts);
  // The last reply resolved in a microtask, and the same read may have held another one.
  channel.throwIfClosed();
  return parseCapabilities(extensions, relay);
}

function hostRefused({ code, answer }: Reply): HandshakeError {
  const outcome = code >= 400 ? outcomeOf(code, answer, 'mail') : undefined;
  return new HandshakeError(hostDeferred(answer, outcome?.kind === 'deferred' ? outcome.waitMs : undefined));
}

/** The parameters of each EHLO keyword, all in upper case. */
type Extensions = ReadonlyMap<string, string>;

async function greet(channel: CommandChannel, relay: Relay, timeouts: Timeouts): Promise<Extensions> {
  const ehlo = await channel.command(`EHLO ${relay.clientName}`, timeouts.commandMs);
  if (ehlo.code === 250) return new Map(ehlo.lines.slice(1).map(parseExtension));
  if (ehlo.code < 500) throw hostRefused(ehlo);
  const helo = await channel.command(`HELO ${relay.clientName}`, timeouts.commandMs);
  if (helo.code !== 250) throw hostRefused(helo);
  return new Map();
}

function parseExtension(line: string): [string, string] {
  // Pre-standard servers write "AUTH=PLAIN".
  const [keyword = '', ...parameters] = line.trim().split(/[ =]+/);
  return [keyword.toUpperCase(), parameters.join(' ').toUpperCase()];
}

function parseCapabilities(extensions: Extensions, relay: Relay): ServerCapabilities {
  const announced = extensions.get('SIZE') ?? '';
  const size = /^\d+$/.test(announced) ? Number(announced) : 0;
  return {
    pipelining: extensions.has('PIPELINING'),
    chunking: extensions.has('PIPELINING') && extensions.has('CHUNKING'),
    eightBitMime: extensions.has('8BITMIME'),
    smtpUtf8: extensions.has('SMTPUTF8'),
    dsn: extensions.has('DSN') && relay.reports !== false,
    size: size > 0 ? size : Infinity,
    announcesSize: extensions.has('SIZE'),
  };
}

async function authenticate(
  channel: CommandChannel,
  connection: SmtpConnection,
  relay: Relay,
  extensions: Extensions,
  timeouts: Timeouts,
): Promise<void> {
  if (!connection.encrypted && !relay.insecure && !isLoopback(relay.host)) {
    throw misconfigured(
      'The mail server does not offer STARTTLS, and credentials are not sent in the clear. Check the port and the encryption',
    );
  }
  const credentials = relay.credentials!;
  const mechanisms = (extensions.get('AUTH') ?? '').split(' ');
  const ask = (command: string) => channel.command(command, timeouts.commandMs, 'AUTH');
  const reply =
    'password' in credentials
      ? await authenticateWithPassword(ask, mechanisms, credentials)
      : await authenticateWithToken(ask, mechanisms, credentials);
  if (reply.code === 235) return;
  throw reply.code >= 500 ? misconfigured(reply.answer) : hostRefused(reply);
}

type Ask = (command: string) => Promise<Reply>;
const base64 = (text: string) => Buffer.from(text).toString('base64');

async function authenticateWithPassword(
  ask: Ask,
  mechanisms: readonly string[],
  { user, password }: { user: string; password: string },
): Promise<Reply> {
  if (mechanisms.includes('PLAIN')) return ask(`AUTH PLAIN ${base64(`\0${user}\0${password}`)}`);
  if (!mechanisms.includes('LOGIN')) {
    throw misconfigured('The server supports neither AUTH PLAIN nor AUTH LOGIN');
  }
  let reply = await ask('AUTH LOGIN');
  if (reply.code === 334) reply = await ask(base64(user));
  if (reply.code === 334) reply = await ask(base64(password));
  return reply;
}

/** Retries once with a new token if the first is rejected: it may have been revoked before it expired. */
async function authenticateWithToken(
  ask: Ask,
  mechanisms: readonly string[],
  { user, accessToken }: { user: string; accessToken: (refused?: string) => Promise<string> },
): Promise<Reply> {
  if (!mechanisms.includes('XOAUTH2')) throw misconfigured('The server does not support access tokens (AUTH XOAUTH2)');
  const attempt = async (token: string) => {
    const reply = await ask(`AUTH XOAUTH2 ${base64(`user=${user}\x01auth=Bearer ${token}\x01\x01`)}`);
    // An error comes as a 334 challenge; an empty line elicits the actual refusal.
    return reply.code === 334 ? ask('') : reply;
  };
  const first = await accessToken();
  const reply = await attempt(first);
  if (reply.code < 500) return reply;
  const second = await accessToken(first);
  return second === first ? reply : attempt(second);
}

function misconfigured(answer: string): HandshakeError {
  return new HandshakeError({ kind: 'refused', answer, verdict: 'configuration', stop: 'account' });
}

/** Runs the handshake's commands one at a time, each awaiting its reply. */
class CommandChannel {
  readonly #connection: SmtpConnection;
  #resolve: ((reply: Reply) => void) | undefined;
  #reject: ((error: HandshakeError) => void) | undefined;
  #failure: HandshakeError | undefined;
  #waitingFor = '';

  constructor(connection: SmtpConnection) {
    this.#connection = connection;
    connection.handler = {
      onReply: (reply) => this.#onReply(reply),
      onClosed: (reason) => this.#onClosed(reason),
      onTimeout: () => connection.fail(`Timed out waiting for ${this.#waitingFor}`),
    };
  }

  /** @throws HandshakeError if the connection has closed */
  throwIfClosed(): void {
    if (this.#failure) throw this.#failure;
  }

  /** `name` is a loggable label: the command itself may contain a password. */
  command(command: string, timeoutMs: number, name = command.split(' ', 1)[0]!): Promise<Reply> {
    const reply = this.reply(timeoutMs, `the reply to ${name}`);
    if (!this.#failure) this.#connection.write(`${command}\r\n`);
    return reply;
  }

  reply(timeoutMs: number, description: string): Promise<Reply> {
    return this.waitFor(timeoutMs, description, (resolve) => (this.#resolve = resolve));
  }

  /** Runs `start` and waits for it to resolve, or for the connection to close. */
  waitFor<T = void>(timeoutMs: number, description: string, start: (resolve: (value: T) => void) => void): Promise<T> {
    // Replies resolve in a microtask, so the connection may have closed since the last one.
    if (this.#failure) return Promise.reject(this.#failure);
    this.#waitingFor = description;
    this.#connection.wait(timeoutMs);
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      start(resolve);
    });
  }

  #onReply(reply: ReplyReader): void {
    const resolve = this.#resolve;
    this.#resolve = undefined;
    if (resolve) resolve({ code: reply.code, answer: reply.answer(), lines: reply.lines() });
    else this.#connection.fail(`The server sent an unexpected reply: ${reply.answer()}`);
  }

  #onClosed(reason: string): void {
    this.#failure = new HandshakeError(hostDeferred(reason));
    this.#reject?.(this.#failure);
  }
}
