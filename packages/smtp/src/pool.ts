import { TimeoutTimer } from './timeout-timer.ts';
import { SmtpSession } from './session.ts';
import type { SessionHost, SessionOptions } from './session.ts';
import { prepare } from './envelope.ts';
import type { PreparedMessage, SmtpMessage } from './envelope.ts';
import { HandshakeError, performHandshake } from './handshake.ts';
import { hostDeferred } from './outcome.ts';
import type { SendOutcome } from './outcome.ts';
import { FairQueue } from './queue.ts';
import { parseRelayUrl } from './relay-url.ts';
import type { Relay } from './relay-url.ts';
import { SMTP_POLICY } from './policy.ts';
import type { Timeouts } from './timeouts.ts';
import { SmtpConnection } from './connection.ts';

/** A number of connections that several pools share, such as those of several processes. */
export interface ConnectionSlots {
  /** @returns the slot's release function; undefined if none is left. */
  tryAcquire(): (() => void) | undefined;
  /** Resolves when a slot may be free for one of this many waiting connections. */
  untilReady(waiting: number): Promise<void>;
  /** Slots in use to which other pools have a right. */
  readonly excess: number;
  /** Called when `excess` has grown. */
  onExcess: (() => void) | undefined;
}

export interface SmtpPoolOptions {
  /** Maximum concurrent connections, opened on demand. Defaults are in `SMTP_POLICY`. */
  readonly connections?: number | undefined;
  /** Where each connection gets a slot, from before it is opened until it is closed. */
  readonly slots?: ConnectionSlots | undefined;
  /** Messages after which a connection is replaced. */
  readonly maxMessagesPerConnection?: number | undefined;
  readonly timeouts?: Partial<Timeouts> | undefined;
  /** See `SessionOptions.fastReplyMs`. */
  readonly fastReplyMs?: number | undefined;
  /** Backoff between connection attempts to an unreachable server, in milliseconds; the last delay repeats. */
  readonly reconnectDelaysMs?: readonly number[] | undefined;
  /** Aborts the pool. */
  readonly signal?: AbortSignal | undefined;
}

/** A connection pool for one mail server. */
export interface SmtpPool {
  /** Messages queued or in flight. */
  readonly pending: number;
  /** Connections that are open or being opened. */
  readonly connections: number;
  /** How many messages to submit concurrently: as many as the connections can have in flight, and the same number queued. */
  readonly width: number;
  /**
   * Sends the message once and resolves with its outcome. Never rejects and never retries a message that the server has answered;
   * retrying is up to the caller.
   */
  send(message: SmtpMessage): Promise<SendOutcome>;
  /** Resolves once nothing is queued or in flight. */
  idle(): Promise<void>;
  /** Drains the pool: rejects new messages, finishes pending ones and sends QUIT on each connection. */
  close(): Promise<void>;
  /** Closes all connections immediately. Queued messages are deferred; those awaiting their final reply are unknown. */
  abort(reason?: string): void;
}

/**
 * Creates a connection pool for a relay, or for an `smtp:` or `smtps:` URL (see `parseRelayUrl`). It connects on first send.
 *
 * Our own client, because sending is the hot path of campaigns: 30 µs of CPU per message, where nodemailer's pooled transport
 * takes 580 µs, over ten connections to the same server (`npm run bench -- hot-paths`).
 * @throws TypeError if the URL is invalid.
 */
export function createSmtpPool(relay: string | Relay, options: SmtpPoolOptions = {}): SmtpPool {
  return new Pool(typeof relay === 'string' ? parseRelayUrl(relay) : relay, options);
}

/** Tests a relay: connects, authenticates and quits, without sending. Returns why it failed; undefined on success. */
export async function probeRelay(relay: Relay, timeouts: Partial<Timeouts> = {}): Promise<SendOutcome | undefined> {
  const allTimeouts = { ...SMTP_POLICY.timeouts, ...timeouts };
  const timer = new TimeoutTimer(Math.min(...Object.values(allTimeouts)), () => {});
  const connection = new SmtpConnection(relay, timer);
  try {
    await performHandshake(connection, relay, allTimeouts);
    if (connection.isClosed) return undefined;
    connection.handler = { onReply: () => connection.close(), onClosed: () => {}, onTimeout: () => connection.close() };
    connection.wait(allTimeouts.quitMs);
    connection.write('QUIT\r\n');
    return undefined;
  } catch (error) {
    connection.close();
    return error instanceof HandshakeError ? error.outcome : hostDeferred(String(error));
  }
}

/** The outcome of a message that shall no longer be sent. */
const NOT_WANTED: SendOutcome = { kind: 'deferred', answer: '', scope: 'message', untried: true };

interface QueuedMessage extends PreparedMessage {
  /** Its key in the queue. */
  key: string;
  resolve(outcome: SendOutcome): void;
}

class Pool implements SmtpPool, SessionHost<QueuedMessage> {
  pending = 0;
  /** Total size of the pending messages. */
  #pendingBytes = 0;
  readonly #relay: Relay;
  readonly #timeouts: Timeouts;
  readonly #maxConnections: number;
  readonly #sessionOptions: SessionOptions;
  readonly #slots: ConnectionSlots | undefined;
  /** How to release the slots of open connections. */
  readonly #releases = new Map<SmtpConnection | SmtpSession<QueuedMessage>, () => void>();
  #isAwaitingSlot = false;
  readonly #delaysMs: readonly number[];
  readonly #timer: TimeoutTimer;
  readonly #signal: AbortSignal | undefined;
  readonly #queue = new FairQueue<QueuedMessage>();
  readonly #connecting = new Set<SmtpConnection>();
  /** Sessions that are sending or ready to. */
  readonly #sessions = new Set<SmtpSession<QueuedMessage>>();
  readonly #idleSessions: SmtpSession<QueuedMessage>[] = [];
  /** Sessions that have sent QUIT. */
  readonly #quittingSessions = new Set<SmtpSession<QueuedMessage>>();
  #failureCount = 0;
  #retryAt = 0;
  #lastFailure: SendOutcome = hostDeferred('');
  /** Why the pool accepts no more messages; '' while it is open. */
  #closed = '';
  #idleWaiters: (() => void)[] = [];
  #closeWaiters: (() => void)[] = [];

  constructor(relay: Relay, options: SmtpPoolOptions) {
    this.#relay = relay;
    this.#timeouts = { ...SMTP_POLICY.timeouts, ...options.timeouts };
    this.#maxConnections = Math.max(1, options.connections ?? SMTP_POLICY.pool.connections);
    const maxMessages = Math.max(1, options.maxMessagesPerConnection ?? SMTP_POLICY.pool.maxMessagesPerConnection);
    this.#sessionOptions = { timeouts: this.#timeouts, maxMessages: maxMessages, fastReplyMs: options.fastReplyMs };
    this.#slots = options.slots;
    if (this.#slots !== undefined) this.#slots.onExcess = () => this.#quitIdleSurplus();
    this.#delaysMs = options.reconnectDelaysMs ?? SMTP_POLICY.pool.reconnectDelaysMs;
    this.#timer = new TimeoutTimer(Math.min(...Object.values(this.#timeouts)), () => {
      this.#releaseUnwanted();
      this.#pump();
    });
    this.#signal = options.signal;
    if (this.#signal?.aborted) this.abort();
    else this.#signal?.addEventListener('abort', this.#onAbort);
  }

  get connections(): number {
    return this.#connecting.size + this.#sessions.size + this.#quittingSessions.size;
  }

  get width(): number {
    let inFlight = this.#maxConnections;
    if (this.#pendingBytes < SMTP_POLICY.batch.maxPendingBytes)
      for (const { batchSize } of this.#sessions) inFlight += batchSize - 1;
    return inFlight * 2;
  }

  send(message: SmtpMessage): Promise<SendOutcome> {
    if (this.#closed !== '') return Promise.resolve(hostDeferred(this.#closed));
    const prepared = prepare(message);
    if ('kind' in prepared) return Promise.resolve(prepared);
    this.pending++;
    this.#pendingBytes += prepared.data.length;
    return new Promise((resolve) => {
      const key = message.projectId ?? '';
      this.#queue.push(key, { ...prepared, key, resolve });
      this.#pump();
    });
  }

  idle(): Promise<void> {
    return this.pending === 0 ? Promise.resolve() : new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  async close(): Promise<void> {
    this.#closed ||= 'The connection pool is closed';
    await this.idle();
    this.#signal?.removeEventListener('abort', this.#onAbort);
    for (const connection of this.#connecting) connection.fail(this.#closed);
    for (const session of this.#sessions) session.quit();
    if (this.connections > 0) await new Promise<void>((resolve) => this.#closeWaiters.push(resolve));
  }

  abort(reason = 'Sending was aborted'): void {
    this.#closed ||= reason;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#failQueue(hostDeferred(reason));
    for (const connection of this.#connecting) connection.fail(reason);
    for (const session of [...this.#sessions, ...this.#quittingSessions]) session.abort(reason);
  }

  readonly #onAbort = () => this.abort();

  // SessionHost

  next(maxBytes = Infinity): QueuedMessage | undefined {
    if (this.#surplus > 0) return undefined; // the session goes idle, and quits
    if (this.#queue.peek()?.isWanted?.() === false) this.#releaseUnwanted();
    return (this.#queue.peek()?.data.length ?? 0) > maxBytes ? undefined : this.#queue.shift();
  }

  fairShare(): number {
    return Math.ceil(this.#queue.length / this.#maxConnections);
  }

  settle(message: QueuedMessage, outcome: SendOutcome): void {
    if (outcome.kind !== 'deferred') this.#failureCount = 0;
    message.resolve(outcome);
    this.#pendingBytes -= message.data.length;
    if (--this.pending > 0) return;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  requeue(messages: readonly QueuedMessage[]): void {
    for (const message of messages.toReversed()) this.#queue.unshift(message.key, message);
    this.#pump();
  }

  sessionIdle(session: SmtpSession<QueuedMessage>): void {
    if (this.#surplus > 0) return session.quit();
    this.#idleSessions.push(session);
    // It may have found no message only because another session had to quit.
    if (this.#slots !== undefined && this.#queue.length > 0) setImmediate(() => this.#pump());
  }

  sessionQuitting(session: SmtpSession<QueuedMessage>): void {
    this.#remove(session);
    this.#quittingSessions.add(session);
    this.#pump();
  }

  sessionEnded(session: SmtpSession<QueuedMessage>, failure: string | undefined): number {
    this.#remove(session);
    this.#quittingSessions.delete(session);
    this.#releaseSlot(session);
    if (failure !== undefined) this.#recordFailure(hostDeferred(failure));
    this.#connectionEnded();
    return this.#backoffMs();
  }

  #remove(session: SmtpSession<QueuedMessage>): void {
    this.#sessions.delete(session);
    const at = this.#idleSessions.indexOf(session);
    if (at !== -1) this.#idleSessions.splice(at, 1);
  }

  /** Starts idle sessions on queued messages, and opens more connections if they aren't enough. */
  #pump(): void {
    while (this.#queue.length > 0 && this.#idleSessions.length > 0) this.#idleSessions.pop()!.start();
    let needed = this.#queue.length - this.#connecting.size;
    if (needed <= 0) return;
    if (this.#backoffMs() > 0) return this.#failQueueIfDisconnected();
    needed = Math.min(needed, this.#maxConnections - this.#connecting.size - this.#sessions.size);
    for (; needed > 0; needed--) {
      const release = this.#slots?.tryAcquire();
      if (this.#slots !== undefined && release === undefined) return this.#awaitSlots(this.#slots, needed);
      this.#connect(release);
    }
  }

  #releaseUnwanted(): void {
    for (const message of this.#queue.remove(({ isWanted }) => isWanted?.() === false))
      this.settle(message, NOT_WANTED);
  }

  #awaitSlots(slots: ConnectionSlots, count: number): void {
    if (this.#isAwaitingSlot) return;
    this.#isAwaitingSlot = true;
    void slots.untilReady(count).then(() => {
      this.#isAwaitingSlot = false;
      this.#pump();
    });
  }

  /** Connections that must be closed, besides those that are closing. */
  get #surplus(): number {
    return this.#slots === undefined ? 0 : this.#slots.excess - this.#quittingSessions.size;
  }

  #quitIdleSurplus(): void {
    while (this.#surplus > 0 && this.#idleSessions.length > 0) this.#idleSessions.at(-1)?.quit();
  }

  #releaseSlot(of: SmtpConnection | SmtpSession<QueuedMessage>): void {
    this.#releases.get(of)?.();
    this.#releases.delete(of);
  }

  #connect(release: (() => void) | undefined): void {
    const connection = new SmtpConnection(this.#relay, this.#timer);
    this.#connecting.add(connection);
    if (release !== undefined) this.#releases.set(connection, release);
    performHandshake(connection, this.#relay, this.#timeouts).then(
      (capabilities) => {
        this.#connecting.delete(connection);
        if (connection.isClosed) {
          this.#releaseSlot(connection);
          return this.#connectionEnded();
        }
        const session = new SmtpSession(connection, capabilities, this, this.#sessionOptions);
        this.#sessions.add(session);
        if (release !== undefined) this.#releases.set(session, release);
        this.#releases.delete(connection);
        session.start();
      },
      (error: unknown) => {
        this.#connecting.delete(connection);
        connection.close();
        this.#releaseSlot(connection);
        this.#recordFailure(error instanceof HandshakeError ? error.outcome : hostDeferred(String(error)));
        this.#connectionEnded();
      },
    );
  }

  /** Backs off for longer after each failure. Failures of connections opened together count once. */
  #recordFailure(outcome: SendOutcome): void {
    this.#lastFailure = outcome;
    if (this.#backoffMs() > 0 || this.#closed !== '') return;
    const delayMs = this.#delaysMs[Math.min(this.#failureCount++, this.#delaysMs.length - 1)] ?? 0;
    this.#retryAt = performance.now() + delayMs;
  }

  #backoffMs(): number {
    return Math.max(0, Math.ceil(this.#retryAt - performance.now()));
  }

  /** Fails the queue if no connection is left and none may be opened during the backoff. */
  #failQueueIfDisconnected(): void {
    if (this.#sessions.size > 0 || this.#connecting.size > 0) return;
    const failure = this.#lastFailure;
    const waitMs = this.#backoffMs();
    this.#failQueue(
      failure.kind === 'deferred' ? { ...failure, waitMs: Math.max(waitMs, failure.waitMs ?? 0) } : failure,
    );
  }

  #failQueue(outcome: SendOutcome): void {
    for (let message = this.#queue.shift(); message; message = this.#queue.shift()) this.settle(message, outcome);
  }

  #connectionEnded(): void {
    this.#pump();
    if (this.connections > 0) return;
    for (const resolve of this.#closeWaiters.splice(0)) resolve();
  }
}
