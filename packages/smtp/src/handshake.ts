import { hostDeferred, outcomeOf } from './outcome.ts';
import type { SendOutcome } from './outcome.ts';
import { isLoopback } from './relay-url.ts';
import type { Relay } from './relay-url.ts';
import type { ReplyReader } from './replies.ts';
import type { Timeouts } from './timeouts.ts';
import type { SmtpConnection } from './connection.ts';

/** What a server said it can do. */
export interface Abilities {
  readonly pipelining: boolean;
  /** Takes messages by BDAT (RFC 3030), many in one write. */
  readonly chunking: boolean;
  readonly eightBitMime: boolean;
  readonly smtpUtf8: boolean;
  /** Reports what becomes of a message when it is asked to (RFC 3461), and may be asked. */
  readonly dsn: boolean;
  /** The largest message it takes, in octets; Infinity when it does not say. 0 in its words means the same. */
  readonly size: number;
  readonly announcesSize: boolean;
}

/** No message can be sent over this connection; what became of those that were to be. */
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
 * Connects, greets, turns to TLS and signs in.
 * @throws HandshakeError when any of it fails
 */
export async function shakeHands(wire: SmtpConnection, relay: Relay, timeouts: Timeouts): Promise<Abilities> {
  const talk = new Talk(wire);
  await talk.until(timeouts.connectMs, 'connection', (ready) => wire.open(ready));
  const greeting = await talk.reply(timeouts.greetingMs, 'greeting');
  if (greeting.code !== 220) throw refusedHost(greeting);

  let offers = await hello(talk, relay, timeouts);
  if (!wire.encrypted && (offers.has('STARTTLS') || relay.requireTls)) {
    if (!offers.has('STARTTLS'))
      throw new HandshakeError(hostDeferred('The server offers no TLS, which tls=required asks for'));
    const agreed = await talk.ask('STARTTLS', timeouts.commandMs);
    if (agreed.code !== 220) throw refusedHost(agreed);
    await talk.until(timeouts.connectMs, 'TLS', (ready) => wire.startTls(ready));
    offers = await hello(talk, relay, timeouts);
  }
  if (relay.credentials) await signIn(talk, wire, relay, offers, timeouts);
  return abilities(offers, relay);
}

function refusedHost({ code, answer }: Reply): HandshakeError {
  const outcome = code >= 400 ? outcomeOf(code, answer, 'mail') : undefined;
  return new HandshakeError(hostDeferred(answer, outcome?.kind === 'deferred' ? outcome.waitMs : undefined));
}

/** Keywords with their parameters, by upper-case keyword. */
type Offers = ReadonlyMap<string, string>;

async function hello(talk: Talk, relay: Relay, timeouts: Timeouts): Promise<Offers> {
  const ehlo = await talk.ask(`EHLO ${relay.clientName}`, timeouts.commandMs);
  if (ehlo.code === 250) return new Map(ehlo.lines.slice(1).map(keyword));
  if (ehlo.code < 500) throw refusedHost(ehlo);
  const helo = await talk.ask(`HELO ${relay.clientName}`, timeouts.commandMs);
  if (helo.code !== 250) throw refusedHost(helo);
  return new Map();
}

function keyword(line: string): [string, string] {
  // "AUTH=PLAIN" is how servers wrote it before there was a standard.
  const [word = '', ...parameters] = line.trim().split(/[ =]+/);
  return [word.toUpperCase(), parameters.join(' ').toUpperCase()];
}

function abilities(offers: Offers, relay: Relay): Abilities {
  const size = Number(offers.get('SIZE') ?? 0);
  return {
    pipelining: offers.has('PIPELINING'),
    chunking: offers.has('PIPELINING') && offers.has('CHUNKING'),
    eightBitMime: offers.has('8BITMIME'),
    smtpUtf8: offers.has('SMTPUTF8'),
    dsn: offers.has('DSN') && relay.reports !== false,
    size: size > 0 ? size : Infinity,
    announcesSize: offers.has('SIZE'),
  };
}

async function signIn(
  talk: Talk,
  wire: SmtpConnection,
  relay: Relay,
  offers: Offers,
  timeouts: Timeouts,
): Promise<void> {
  if (!wire.encrypted && !relay.insecure && !isLoopback(relay.host)) {
    throw misconfigured('The server offers no TLS, and a password is not sent without it (tls=insecure allows it)');
  }
  const credentials = relay.credentials!;
  const ways = (offers.get('AUTH') ?? '').split(' ');
  const ask = (command: string) => talk.ask(command, timeouts.commandMs, 'AUTH');
  const reply =
    'password' in credentials
      ? await signInWithPassword(ask, ways, credentials)
      : await signInWithToken(ask, ways, credentials);
  if (reply.code === 235) return;
  throw reply.code >= 500 ? misconfigured(reply.answer) : refusedHost(reply);
}

type Ask = (command: string) => Promise<Reply>;
const base64 = (text: string) => Buffer.from(text).toString('base64');

async function signInWithPassword(
  ask: Ask,
  ways: readonly string[],
  { user, password }: { user: string; password: string },
): Promise<Reply> {
  if (ways.includes('PLAIN')) return ask(`AUTH PLAIN ${base64(`\0${user}\0${password}`)}`);
  if (!ways.includes('LOGIN')) {
    throw misconfigured('The server offers no way to sign in that we know (PLAIN, LOGIN)');
  }
  let reply = await ask('AUTH LOGIN');
  if (reply.code === 334) reply = await ask(base64(user));
  if (reply.code === 334) reply = await ask(base64(password));
  return reply;
}

/** With a second token, when the first one is refused: it may have been withdrawn before its time. */
async function signInWithToken(
  ask: Ask,
  ways: readonly string[],
  { user, accessToken }: { user: string; accessToken: (refused?: string) => Promise<string> },
): Promise<Reply> {
  if (!ways.includes('XOAUTH2')) throw misconfigured('The server offers no sign-in with access tokens (XOAUTH2)');
  const attempt = async (token: string) => {
    const reply = await ask(`AUTH XOAUTH2 ${base64(`user=${user}\x01auth=Bearer ${token}\x01\x01`)}`);
    // What is wrong comes as a challenge, which an empty line answers; then comes the refusal.
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

/** The wire's speaker before there is mail: one question at a time, each with its answer. */
class Talk {
  readonly #wire: SmtpConnection;
  #resolve: ((reply: Reply) => void) | undefined;
  #reject: ((error: HandshakeError) => void) | undefined;
  #failure: HandshakeError | undefined;
  #waitingFor = '';

  constructor(wire: SmtpConnection) {
    this.#wire = wire;
    wire.handler = {
      reply: (reply) => this.#answered(reply),
      broken: (reason) => this.#failed(reason),
      expired: () => wire.break(`No ${this.#waitingFor} in time`),
    };
  }

  /** `name` is what an operator may read of the command, which can hold a password. */
  ask(command: string, timeoutMs: number, name = command.split(' ', 1)[0]!): Promise<Reply> {
    const reply = this.reply(timeoutMs, `answer to ${name}`);
    if (!this.#failure) this.#wire.write(`${command}\r\n`);
    return reply;
  }

  reply(timeoutMs: number, what: string): Promise<Reply> {
    return this.until(timeoutMs, what, (resolve) => (this.#resolve = resolve));
  }

  /** Waits for what `start` reports, or for the connection to break. */
  until<T = void>(timeoutMs: number, what: string, start: (resolve: (value: T) => void) => void): Promise<T> {
    // It may have broken since the last answer, which is handed over a little later than it came.
    if (this.#failure) return Promise.reject(this.#failure);
    this.#waitingFor = what;
    this.#wire.wait(timeoutMs);
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      start(resolve);
    });
  }

  #answered(reply: ReplyReader): void {
    const resolve = this.#resolve;
    this.#resolve = undefined;
    if (resolve) resolve({ code: reply.code, answer: reply.answer(), lines: reply.lines() });
    else this.#wire.break(`The server spoke unasked: ${reply.answer()}`);
  }

  #failed(reason: string): void {
    this.#failure = new HandshakeError(hostDeferred(reason));
    this.#reject?.(this.#failure);
  }
}
