import diagnostics from 'node:diagnostics_channel';
import { Resolver } from 'node:dns/promises';
import { setImmediate } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import {
  type AddressScope,
  guardedLookup,
  type Resolve,
  resolveBySystem,
  urlProblem,
  withoutAddress,
} from '@postroom/platform';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { acceptContinue, expectResponse } from './interim-responses.ts';
import { memoize } from './memoize.ts';

/** How long a receiver has for everything: name, connection, TLS, status, headers and body (spec: Delivery). */
export const DEADLINE_MS = 10_000;

/** How much of an answer is read; the rest is not waited for. */
export const ANSWER_BYTES = 4096;

/** A 2xx status acknowledges by itself (spec: Delivery); its body, which is kept for people to read, gets this long. */
export const BODY_GRACE_MS = 1_000;

export interface Post {
  url: string;
  /** Called for each time that the request goes out, so that its id is never used twice. */
  headers: () => Record<string, string>;
  body: string;
}

/** What came of a POST. Nothing that a receiver does makes it throw. */
export interface Answer {
  startedAt: Date;
  durationMs: number;
  /** `null` when no status arrived. */
  status: number | null;
  /** Why there was no complete answer, in words; `null` when there was one, whatever its status, and for any 2xx. */
  error: string | null;
  /** The first 4 KB of the answer's body, as text that a database can keep. */
  body: string;
  /** The answer's Retry-After header, as it came. */
  retryAfter: string | null;
}

export interface ClientOptions {
  /** Where calls may go. */
  scope: AddressScope;
  deadlineMs?: number;
  /** Turns a name into addresses. */
  resolve?: Resolve;
  /** Certificates to trust beside none: for tests of TLS. */
  ca?: string;
}

/**
 * The client for every URL that a customer gave. It checks the addresses when it connects, after DNS and at each
 * connection, so a name that changes its mind gains nothing; it follows no redirect, and it keeps connections alive by origin.
 */
export interface GuardedClient {
  post: (post: Post) => Promise<Answer>;
  close: () => Promise<void>;
}

export function createGuardedClient(options: ClientOptions): GuardedClient {
  const { scope, deadlineMs = DEADLINE_MS } = options;
  const resolve = options.resolve ?? (scope === 'public' ? resolveByDns : resolveBySystem);
  const connect = buildConnector({
    allowH2: true,
    lookup: guardedLookup(() => scope, resolve),
    timeout: deadlineMs,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  const agent = new Agent({
    connect: (target, callback) =>
      connect(target, (...connected) => {
        const [error, socket] = connected;
        if (error === null && (socket as TLSSocket).alpnProtocol !== 'h2') acceptContinue(socket);
        callback(...connected);
      }),
    allowH2: true,
    // A connection that carries many posts outlives those that wait in vain: asked so often, a living one has something to say.
    h2Options: { pingInterval: Math.ceil(deadlineMs / 3) },
    // One deadline covers it all and is always the first. What this one ends is a connection that lets no post onto it, which
    // HTTP/2 knows: it would be kept for posts that wait in it, though nobody waits for them any more.
    headersTimeout: 2 * deadlineMs,
    bodyTimeout: 0,
  });
  const targetOf = memoize((url) => toTarget(url, scope));
  return {
    post: async (post) => {
      const target = targetOf(post.url);
      if (typeof target === 'string') return noAnswer(`The URL ${target}.`);
      const answer = await new Exchange(agent, target, post, deadlineMs).answer;
      // undici frees a connection a moment after its answer ended; who posts again before that would open another.
      await setImmediate();
      return answer;
    },
    close: () => agent.destroy(),
  };
}

/** Where a URL leads, or what is wrong with it. Reading a URL is slow beside the rest of a POST, and the same ones come again and again. */
function toTarget(url: string, scope: AddressScope): Target | string {
  const problem = urlProblem(url, scope);
  if (problem !== undefined) return problem;
  const { origin, pathname, search } = new URL(url);
  return { origin, path: pathname + search };
}

interface Target {
  origin: string;
  path: string;
}

/** What comes of a POST that was not sent. */
export function noAnswer(error: string): Answer {
  return { startedAt: new Date(), durationMs: 0, status: null, error, body: '', retryAfter: null };
}

/** Asks DNS without the thread pool of getaddrinfo, where four names that never answer would hold up all others. */
const resolveByDns: Resolve = async (hostname) => {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (addresses.length === 0 && v4.status === 'rejected') throw v4.reason;
  return addresses;
};

/** POSTs under way by the Buffer that is their body: undici tells on this channel, and nowhere else, which socket one took. */
const underWay = new WeakMap<Buffer, Exchange>();
const usedSockets = new WeakSet<object>();

/** The connection that a POST went out on, and how it was at that moment. */
interface Way {
  socket: TLSSocket;
  wasUsed: boolean;
  bytesRead: number;
  sentMs: number;
}

diagnostics.subscribe('undici:client:sendHeaders', (message) => {
  const { request, socket } = message as { request: { body: unknown }; socket: TLSSocket };
  const exchange = Buffer.isBuffer(request.body) ? underWay.get(request.body) : undefined;
  const { bytesRead } = socket;
  if (exchange !== undefined)
    exchange.way = { socket, wasUsed: usedSockets.has(socket), bytesRead, sentMs: performance.now() };
  usedSockets.add(socket);
  expectResponse(socket);
});

/** One POST and its answer, until the answer is complete, enough of it is read, it breaks, or time is up. */
class Exchange implements Dispatcher.DispatchHandler {
  /** Known once it is written. */
  way: Way | undefined;
  readonly answer: Promise<Answer>;
  readonly #agent: Agent;
  readonly #request: Dispatcher.DispatchOptions;
  readonly #headers: () => Record<string, string>;
  readonly #startedAt = new Date();
  readonly #startedMs = performance.now();
  #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #settle: ((answer: Answer) => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #answerBegan = false;
  #postedAgain = false;
  #bytesRead = 0;
  #status: number | null = null;
  #retryAfter: string | null = null;

  constructor(agent: Agent, { origin, path }: Target, { headers, body }: Post, deadlineMs: number) {
    const bytes = Buffer.from(body, 'utf8');
    this.#agent = agent;
    this.#request = { origin, path, method: 'POST', body: bytes };
    this.#headers = headers;
    this.answer = new Promise((settle) => (this.#settle = settle));
    this.#timer = setTimeout(() => this.#giveUp(deadlineMs), deadlineMs);
    underWay.set(bytes, this);
    this.#dispatch();
  }

  #dispatch(): void {
    try {
      this.#agent.dispatch({ ...this.#request, headers: this.#headers() }, this);
    } catch (error) {
      this.#finish(inWords(error as Error));
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It waited for a connection until its time was up: nothing has been sent, and nothing will be.
    if (this.#settle === undefined) controller.abort(new Error('its time is up'));
  }

  onResponseStarted(): void {
    this.#answerBegan = true;
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#status = status;
    this.#retryAfter = [headers['retry-after']].flat()[0] ?? null;
    if (!isSuccess(status) || this.#settle === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#stop(null), BODY_GRACE_MS);
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#bytesRead >= ANSWER_BYTES) return;
    this.#chunks.push(chunk);
    this.#bytesRead += chunk.length;
    if (this.#bytesRead >= ANSWER_BYTES) this.#stop(null);
  }

  onResponseEnd(): void {
    this.#finish(null);
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#settle === undefined) return;
    if (this.#postedAgain || !this.#isStaleSocket(error)) return this.#finish(inWords(error));
    this.#postedAgain = true;
    this.#dispatch();
  }

  /**
   * A kept connection that its server closed at the moment it was used again: the receiver has seen nothing of this POST.
   * Over HTTP/2 it says itself what it has not seen, and undici posts that again; all else was under way there.
   */
  #isStaleSocket(error: NodeJS.ErrnoException): boolean {
    return (
      this.way?.wasUsed === true &&
      !isHttp2(this.way) &&
      !this.#answerBegan &&
      ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(error.code ?? '')
    );
  }

  #giveUp(deadlineMs: number): void {
    const { way } = this;
    this.#stop(`No complete answer within ${deadlineMs / 1000} seconds.`);
    // Over HTTP/1 its connection has ended with it. One of HTTP/2 that did not even answer a ping leads nowhere any more,
    // and all later posts would be lost on it.
    if (way === undefined || !isHttp2(way)) return;
    const waitedMs = performance.now() - way.sentMs;
    if (way.socket.bytesRead === way.bytesRead && waitedMs > deadlineMs / 2) way.socket.destroy();
  }

  #stop(error: string | null): void {
    this.#finish(error);
    this.#controller?.abort(new Error('no more is read'));
  }

  #finish(error: string | null): void {
    const settle = this.#settle;
    this.#settle = undefined;
    clearTimeout(this.#timer);
    settle?.({
      startedAt: this.#startedAt,
      durationMs: Math.round(performance.now() - this.#startedMs),
      status: this.#status,
      error: isSuccess(this.#status) ? null : error,
      body: readableText(this.#chunks),
      retryAfter: this.#retryAfter,
    });
  }
}

/** Any 2xx acknowledges (spec: Delivery). */
export const isSuccess = (status: number | null): boolean => status !== null && status >= 200 && status < 300;

const isHttp2 = ({ socket }: Way) => socket.alpnProtocol === 'h2';

/** At most 4 KB as text: cut at a character, without NUL, which PostgreSQL does not keep. */
function readableText(chunks: readonly Buffer[]): string {
  if (chunks.length === 0) return '';
  const bytes = Buffer.concat(chunks).subarray(0, ANSWER_BYTES);
  return new TextDecoder('utf-8').decode(bytes, { stream: true }).replaceAll('\0', '\uFFFD');
}

const WORDS: Record<string, string> = {
  ENOTFOUND: 'The host name does not resolve.',
  ENODATA: 'The host name does not resolve.',
  EAI_AGAIN: 'The host name could not be resolved just now.',
  ETIMEOUT: 'The name servers did not answer.',
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection broke before the answer was complete.',
  EPIPE: 'The connection broke before the answer was complete.',
  UND_ERR_SOCKET: 'The connection broke before the answer was complete.',
  UND_ERR_INFO: 'The connection broke before the answer was complete.',
  ERR_HTTP2_STREAM_ERROR: 'The receiver broke off before the answer was complete.',
  ERR_HTTP2_SESSION_ERROR: 'The connection broke before the answer was complete.',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'The connection broke before the answer was complete.',
  UND_ERR_HEADERS_OVERFLOW: "The answer's headers were too large.",
  UND_ERR_CONNECT_TIMEOUT: 'No connection could be made in time.',
  ETIMEDOUT: 'No connection could be made in time.',
  EHOSTUNREACH: 'The address could not be reached.',
  ENETUNREACH: 'The address could not be reached.',
};

/** An error of the network in words for the endpoint's owner. */
function inWords(error: Error): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (error.name === 'HTTPParserError') return 'The answer was not HTTP.';
  const cause = error instanceof AggregateError ? (error.errors[0] as Error | undefined) : undefined;
  return WORDS[code] ?? (cause === undefined ? withoutAddress(error) || code : inWords(cause));
}
