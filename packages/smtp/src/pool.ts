import { TimeoutTimer } from './timeout-timer.ts';
import { SmtpSession } from './session.ts';
import type { SessionHost, SessionOptions } from './session.ts';
import { prepare } from './envelope.ts';
import type { Prepared, SmtpMessage } from './envelope.ts';
import { HandshakeError, shakeHands } from './handshake.ts';
import { hostDeferred } from './outcome.ts';
import type { SendOutcome } from './outcome.ts';
import { FairQueue } from './queue.ts';
import { parseRelayUrl } from './relay-url.ts';
import type { Relay } from './relay-url.ts';
import { TIMEOUTS } from './timeouts.ts';
import type { Timeouts } from './timeouts.ts';
import { SmtpConnection } from './connection.ts';

export interface SmtpPoolOptions {
  /** The most connections open at a time; they are opened as messages wait. 10 when not given. */
  readonly connections?: number | undefined;
  /** After so many messages a connection is replaced. 1,000 when not given. */
  readonly maxMessagesPerConnection?: number | undefined;
  readonly timeouts?: Partial<Timeouts> | undefined;
  /** See `DialogueOptions`; 50 when not given. */
  readonly windowMs?: number | undefined;
  /** Waits between tries to connect to a server that can't be reached, in milliseconds; the last one is repeated. */
  readonly reconnectDelaysMs?: readonly number[] | undefined;
  /** Aborts the lane. */
  readonly signal?: AbortSignal | undefined;
}

/** A way to one mail server over a few connections. */
export interface SmtpPool {
  /** Messages that wait or are under way. */
  readonly pending: number;
  /** Connections that are open, or being opened. */
  readonly connections: number;
  /** Messages that are worth giving to it at once: what its connections have in hand, and as much again to go on with. */
  readonly width: number;
  /** Sends once, and tells what became of it. Never rejects and never sends again: that is up to whoever keeps the ledger. */
  send(message: SmtpMessage): Promise<SendOutcome>;
  /** Resolves when nothing waits and nothing is under way. */
  idle(): Promise<void>;
  /** Takes no more messages, finishes those it has, and says goodbye to the server. */
  close(): Promise<void>;
  /** Cuts all connections. What waited is deferred; what was after its final dot is unknown. */
  abort(reason?: string): void;
}

/** While messages of so many octets are pending, no more are given to it than its connections send one by one. */
const MOST_OCTETS = 4 * 1024 * 1024;

/** Waits between tries to connect (see `reconnectDelaysMs`). */
export const RECONNECT_DELAYS_MS = [1000, 2000, 5000, 15_000, 30_000, 60_000];

/**
 * A lane to a mail server, or to that of an smtp: or smtps: URL (see `parseRelayUrl`). It connects when there is something
 * to send.
 * @throws TypeError for a URL that is none
 */
export function createSmtpPool(relay: string | Relay, options: SmtpPoolOptions = {}): SmtpPool {
  return new Pool(typeof relay === 'string' ? parseRelayUrl(relay) : relay, options);
}

/** Connects, greets and signs in, and says goodbye. Returns why no message could be sent this way; undefined when one could. */
export async function probeRelay(relay: Relay, timeouts: Partial<Timeouts> = {}): Promise<SendOutcome | undefined> {
  const patience = { ...TIMEOUTS, ...timeouts };
  const clock = new TimeoutTimer(Math.min(...Object.values(patience)), () => {});
  const wire = new SmtpConnection(relay, clock);
  try {
    await shakeHands(wire, relay, patience);
    if (wire.isBroken) return undefined;
    wire.handler = { reply: () => wire.close(), broken: () => {}, expired: () => wire.close() };
    wire.wait(patience.quitMs);
    wire.write('QUIT\r\n');
    return undefined;
  } catch (error) {
    wire.close();
    return error instanceof HandshakeError ? error.outcome : hostDeferred(String(error));
  }
}

interface Waiting extends Prepared {
  resolve(outcome: SendOutcome): void;
}

class Pool implements SmtpPool, SessionHost<Waiting> {
  pending = 0;
  /** Of the messages that are pending. */
  #octets = 0;
  readonly #relay: Relay;
  readonly #timeouts: Timeouts;
  readonly #mostConnections: number;
  readonly #options: SessionOptions;
  readonly #delaysMs: readonly number[];
  readonly #clock: TimeoutTimer;
  readonly #signal: AbortSignal | undefined;
  readonly #queue = new FairQueue<Waiting>();
  readonly #connecting = new Set<SmtpConnection>();
  /** Those that send, or could. */
  readonly #dialogues = new Set<SmtpSession<Waiting>>();
  readonly #resting: SmtpSession<Waiting>[] = [];
  /** Those that said QUIT. */
  readonly #leaving = new Set<SmtpSession<Waiting>>();
  #failures = 0;
  #retryAt = 0;
  #lastFailure: SendOutcome = hostDeferred('');
  /** Why it takes no more messages; '' while it does. */
  #closed = '';
  #whenIdle: (() => void)[] = [];
  #whenEnded: (() => void)[] = [];

  constructor(relay: Relay, options: SmtpPoolOptions) {
    this.#relay = relay;
    this.#timeouts = { ...TIMEOUTS, ...options.timeouts };
    this.#mostConnections = Math.max(1, options.connections ?? 10);
    const mostMessages = Math.max(1, options.maxMessagesPerConnection ?? 1000);
    this.#options = { timeouts: this.#timeouts, mostMessages, windowMs: options.windowMs };
    this.#delaysMs = options.reconnectDelaysMs ?? RECONNECT_DELAYS_MS;
    this.#clock = new TimeoutTimer(Math.min(...Object.values(this.#timeouts)), () => this.#pump());
    this.#signal = options.signal;
    if (this.#signal?.aborted) this.abort();
    else this.#signal?.addEventListener('abort', this.#onAbort);
  }

  get connections(): number {
    return this.#connecting.size + this.#dialogues.size + this.#leaving.size;
  }

  get width(): number {
    let inHand = this.#mostConnections;
    if (this.#octets < MOST_OCTETS) for (const { windowSize } of this.#dialogues) inHand += windowSize - 1;
    return inHand * 2;
  }

  send(message: SmtpMessage): Promise<SendOutcome> {
    if (this.#closed !== '') return Promise.resolve(hostDeferred(this.#closed));
    const prepared = prepare(message);
    if ('kind' in prepared) return Promise.resolve(prepared);
    this.pending++;
    this.#octets += prepared.data.length;
    return new Promise((resolve) => {
      this.#queue.push(message.projectId ?? '', { ...prepared, resolve });
      this.#pump();
    });
  }

  idle(): Promise<void> {
    return this.pending === 0 ? Promise.resolve() : new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  async close(): Promise<void> {
    this.#closed ||= 'The lane is closed';
    await this.idle();
    this.#signal?.removeEventListener('abort', this.#onAbort);
    for (const wire of this.#connecting) wire.break(this.#closed);
    for (const dialogue of this.#dialogues) dialogue.quit();
    if (this.connections > 0) await new Promise<void>((resolve) => this.#whenEnded.push(resolve));
  }

  abort(reason = 'The sending was aborted'): void {
    this.#closed ||= reason;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#failQueue(hostDeferred(reason));
    for (const wire of this.#connecting) wire.break(reason);
    for (const dialogue of [...this.#dialogues, ...this.#leaving]) dialogue.abort(reason);
  }

  readonly #onAbort = () => this.abort();

  // What its dialogues ask and tell.

  next(octets = Infinity): Waiting | undefined {
    return (this.#queue.peek()?.data.length ?? 0) > octets ? undefined : this.#queue.shift();
  }

  share(): number {
    return Math.ceil(this.#queue.length / this.#mostConnections);
  }

  settle(message: Waiting, outcome: SendOutcome): void {
    if (outcome.kind !== 'deferred') this.#failures = 0;
    message.resolve(outcome);
    this.#octets -= message.data.length;
    if (--this.pending > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  resting(dialogue: SmtpSession<Waiting>): void {
    this.#resting.push(dialogue);
  }

  leaving(dialogue: SmtpSession<Waiting>): void {
    this.#forget(dialogue);
    this.#leaving.add(dialogue);
    this.#pump();
  }

  ended(dialogue: SmtpSession<Waiting>, fruitless: string | undefined): number {
    this.#forget(dialogue);
    this.#leaving.delete(dialogue);
    if (fruitless !== undefined) this.#failed(hostDeferred(fruitless));
    this.#connectionEnded();
    return this.#backoffMs();
  }

  #forget(dialogue: SmtpSession<Waiting>): void {
    this.#dialogues.delete(dialogue);
    const at = this.#resting.indexOf(dialogue);
    if (at !== -1) this.#resting.splice(at, 1);
  }

  /** Gives what waits to connections that rest, and opens more if that was not enough. */
  #pump(): void {
    while (this.#queue.length > 0 && this.#resting.length > 0) this.#resting.pop()!.begin();
    let wanted = this.#queue.length - this.#connecting.size;
    if (wanted <= 0) return;
    if (this.#backoffMs() > 0) return this.#failIfAlone();
    while (wanted-- > 0 && this.#connecting.size + this.#dialogues.size < this.#mostConnections) this.#connect();
  }

  #connect(): void {
    const wire = new SmtpConnection(this.#relay, this.#clock);
    this.#connecting.add(wire);
    shakeHands(wire, this.#relay, this.#timeouts).then(
      (abilities) => {
        this.#connecting.delete(wire);
        if (wire.isBroken) return this.#connectionEnded();
        const dialogue = new SmtpSession(wire, abilities, this, this.#options);
        this.#dialogues.add(dialogue);
        dialogue.begin();
      },
      (error: unknown) => {
        this.#connecting.delete(wire);
        wire.close();
        this.#failed(error instanceof HandshakeError ? error.outcome : hostDeferred(String(error)));
        this.#connectionEnded();
      },
    );
  }

  /** Holds off from connecting for longer after each failure. Those of connections opened together count as one. */
  #failed(outcome: SendOutcome): void {
    this.#lastFailure = outcome;
    if (this.#backoffMs() > 0 || this.#closed !== '') return;
    const delayMs = this.#delaysMs[Math.min(this.#failures++, this.#delaysMs.length - 1)] ?? 0;
    this.#retryAt = performance.now() + delayMs;
  }

  #backoffMs(): number {
    return Math.max(0, Math.ceil(this.#retryAt - performance.now()));
  }

  /** With no connection left and none to be opened for now, nothing is gained by waiting here. */
  #failIfAlone(): void {
    if (this.#dialogues.size > 0 || this.#connecting.size > 0) return;
    const failure = this.#lastFailure;
    const waitMs = this.#backoffMs();
    this.#failQueue(
      failure.kind === 'deferred' ? { ...failure, waitMs: Math.max(waitMs, failure.waitMs ?? 0) } : failure,
    );
  }

  #failQueue(outcome: SendOutcome): void {
    for (let waiting = this.next(); waiting; waiting = this.next()) this.settle(waiting, outcome);
  }

  #connectionEnded(): void {
    this.#pump();
    if (this.connections > 0) return;
    for (const resolve of this.#whenEnded.splice(0)) resolve();
  }
}
