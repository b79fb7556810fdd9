import diagnostics from 'node:diagnostics_channel';
import { Resolver } from 'node:dns/promises';
import { setImmediate } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import {
  assertNoTransaction,
  guardedLookup,
  type Resolve,
  resolveBySystem,
  urlProblem,
  withoutAddress,
} from '@postroom/network';
import type { AddressScope } from '@postroom/settings';
import { LRUCache } from 'lru-cache';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { expectResponse, readStatusLines } from './status-lines.ts';

interface Post {
  url: string;
  /** Called each time the request is sent, so that its id is never reused. */
  headers: () => Record<string, string>;
  body: string;
}

/** The outcome of a POST. Nothing a receiver does makes it throw. */
export interface Answer {
  startedAt: Date;
  durationMs: number;
  /** `null` when no status arrived. */
  status: number | null;
  /** Why there was no complete response, as text; `null` if it was complete, whatever its status, and for any 2xx. */
  error: string | null;
  /** The beginning of the response body, as text PostgreSQL can store. */
  body: string;
  /** The raw Retry-After header. */
  retryAfter: string | null;
}

/** How long a POST may take, and how much of a response is kept. */
interface ExchangeLimits {
  /** Deadline for the whole exchange: DNS, connection, TLS, status, headers and body. */
  deadlineMs: number;
  /** What follows a 2xx status has this long to arrive. */
  bodyGraceMs: number;
  /** Bytes kept of a response body; the rest is discarded. */
  responseBytes: number;
}

export interface ClientOptions extends ExchangeLimits {
  /** Addresses that may be called. */
  scope: AddressScope;
  /** Resolves a hostname to addresses. */
  resolve?: Resolve;
  /** Additional trusted certificates, for TLS tests. */
  ca?: string;
}

/**
 * HTTP client for customer-supplied URLs. It checks addresses after DNS resolution on every connection, so DNS
 * rebinding gains nothing. It follows no redirects and keeps connections alive per origin.
 */
export interface GuardedClient {
  post: (post: Post) => Promise<Answer>;
  close: () => Promise<void>;
}

export function createGuardedClient(options: ClientOptions): GuardedClient {
  const { scope, deadlineMs } = options;
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
        if (error === null && (socket as TLSSocket).alpnProtocol !== 'h2') readStatusLines(socket);
        callback(...connected);
      }),
    allowH2: true,
    // Pings detect a dead HTTP/2 connection while many posts share it.
    h2Options: { pingInterval: Math.ceil(deadlineMs / 3) },
    // Our own deadline always fires first. This timeout closes an HTTP/2 connection that accepts no more streams,
    // which would otherwise be kept for posts that have already timed out.
    headersTimeout: 2 * deadlineMs,
    bodyTimeout: 0,
  });
  const targets = new LRUCache<string, Target | string>({ max: 1_000, memoMethod: (url) => toTarget(url, scope) });
  return {
    post: async (post) => {
      const target = targets.memo(post.url);
      if (typeof target === 'string') return noAnswer(`The URL ${target}.`);
      assertNoTransaction('A webhook was posted');
      const answer = await new Exchange(agent, target, post, options).answer;
      // undici frees a connection just after the response ends; without this, an immediate next post would open
      // another.
      await setImmediate();
      return answer;
    },
    close: () => agent.destroy(),
  };
}

/**
 * The target of a URL, or the problem with it. Memoized by the caller, because parsing is slow compared with the rest
 * of a POST and URLs repeat.
 */
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

/** The outcome of a POST that was not sent. */
export function noAnswer(error: string): Answer {
  return { startedAt: new Date(), durationMs: 0, status: null, error, body: '', retryAfter: null };
}

/** Resolves by DNS instead of getaddrinfo, whose thread pool four unresponsive names would block. */
const resolveByDns: Resolve = async (hostname) => {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (addresses.length === 0 && v4.status === 'rejected') throw v4.reason;
  return addresses;
};

/** In-flight POSTs by their body's Buffer. undici reveals the socket of a request only on this channel. */
const inFlight = new WeakMap<Buffer, Exchange>();
const usedSockets = new WeakSet<object>();

/** The connection of a POST, and its state when the request was sent. */
interface Connection {
  socket: TLSSocket;
  wasUsed: boolean;
  bytesRead: number;
  sentMs: number;
}

diagnostics.subscribe('undici:client:sendHeaders', (message) => {
  const { request, socket } = message as { request: { body: unknown }; socket: TLSSocket };
  const exchange = Buffer.isBuffer(request.body) ? inFlight.get(request.body) : undefined;
  const { bytesRead } = socket;
  if (exchange !== undefined)
    exchange.connection = { socket, wasUsed: usedSockets.has(socket), bytesRead, sentMs: performance.now() };
  usedSockets.add(socket);
  expectResponse(socket, (status) => exchange?.receiveStatus(status));
});

/**
 * One POST and its response, until the response is complete, enough of it is read, the connection fails or the
 * deadline passes.
 */
class Exchange implements Dispatcher.DispatchHandler {
  /** Set once the request is sent. */
  connection: Connection | undefined;
  readonly answer: Promise<Answer>;
  readonly #agent: Agent;
  readonly #request: Dispatcher.DispatchOptions;
  readonly #headers: () => Record<string, string>;
  readonly #limits: ExchangeLimits;
  readonly #startedAt = new Date();
  readonly #startedMs = performance.now();
  #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #settle: ((answer: Answer) => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #responseStarted = false;
  #retried = false;
  #bytesRead = 0;
  #status: number | null = null;
  #retryAfter: string | null = null;

  constructor(agent: Agent, { origin, path }: Target, { headers, body }: Post, limits: ExchangeLimits) {
    const bytes = Buffer.from(body, 'utf8');
    this.#agent = agent;
    this.#request = { origin, path, method: 'POST', body: bytes };
    this.#headers = headers;
    this.#limits = limits;
    this.answer = new Promise((settle) => (this.#settle = settle));
    this.#timer = setTimeout(() => this.#timeOut(limits.deadlineMs), limits.deadlineMs);
    inFlight.set(bytes, this);
    this.#dispatch();
  }

  #dispatch(): void {
    try {
      this.#agent.dispatch({ ...this.#request, headers: this.#headers() }, this);
    } catch (error) {
      this.#finish(describeError(error as Error));
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The deadline passed while it waited for a connection, so it must not be sent.
    if (this.#settle === undefined) controller.abort(new Error('deadline exceeded'));
  }

  /** A 2xx acknowledges whatever follows; the body, kept for display, has a moment to arrive. */
  receiveStatus(status: number): void {
    if (status < 200 || this.#status !== null) return;
    this.#status = status;
    if (!isSuccess(status) || this.#settle === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#stop(null), this.#limits.bodyGraceMs);
  }

  onResponseStarted(): void {
    this.#responseStarted = true;
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.receiveStatus(status);
    this.#retryAfter = [headers['retry-after']].flat()[0] ?? null;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#bytesRead >= this.#limits.responseBytes) return;
    this.#chunks.push(chunk);
    this.#bytesRead += chunk.length;
    if (this.#bytesRead >= this.#limits.responseBytes) this.#stop(null);
  }

  onResponseEnd(): void {
    this.#finish(null);
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#settle === undefined) return;
    if (this.#retried || !this.#isStaleSocket(error)) return this.#finish(describeError(error));
    this.#retried = true;
    this.#dispatch();
  }

  /**
   * A keep-alive connection that the server closed just as it was reused: the receiver has seen nothing of this POST.
   * HTTP/2 reports unprocessed streams itself and undici retries them; any other stream may have been processed.
   */
  #isStaleSocket(error: NodeJS.ErrnoException): boolean {
    return (
      this.connection?.wasUsed === true &&
      !isHttp2(this.connection) &&
      !this.#responseStarted &&
      ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(error.code ?? '')
    );
  }

  #timeOut(deadlineMs: number): void {
    const { connection } = this;
    this.#stop(`No complete answer within ${deadlineMs / 1000} seconds.`);
    // An HTTP/1 connection ends with its request. An HTTP/2 connection that did not even answer a ping is dead and
    // would lose all later posts, so it is closed.
    if (connection === undefined || !isHttp2(connection)) return;
    const waitedMs = performance.now() - connection.sentMs;
    if (connection.socket.bytesRead === connection.bytesRead && waitedMs > deadlineMs / 2) connection.socket.destroy();
  }

  #stop(error: string | null): void {
    this.#finish(error);
    this.#controller?.abort(new Error('response limit reached'));
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
      body: readableText(this.#chunks, this.#limits.responseBytes),
      retryAfter: this.#retryAfter,
    });
  }
}

/** Any 2xx acknowledges (spec: Delivery). */
export const isSuccess = (status: number | null): boolean => status !== null && status >= 200 && status < 300;

const isHttp2 = ({ socket }: Connection) => socket.alpnProtocol === 'h2';

/** At most `maxBytes` as text, cut at a character boundary and without NUL, which PostgreSQL cannot store. */
function readableText(chunks: readonly Buffer[], maxBytes: number): string {
  if (chunks.length === 0) return '';
  const bytes = Buffer.concat(chunks).subarray(0, maxBytes);
  return new TextDecoder('utf-8').decode(bytes, { stream: true }).replaceAll('\0', '\uFFFD');
}

const ERROR_MESSAGES: Record<string, string> = {
  ENOTFOUND: 'The hostname does not resolve.',
  ENODATA: 'The hostname does not resolve.',
  EAI_AGAIN: 'The hostname could not be resolved just now.',
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

/** Describes a network error for the endpoint's owner. */
function describeError(error: Error): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  // undici asserts that a status is at least 100.
  if (error.name === 'HTTPParserError' || code === 'ERR_ASSERTION') return 'The answer was not HTTP.';
  const cause = error instanceof AggregateError ? (error.errors[0] as Error | undefined) : undefined;
  return ERROR_MESSAGES[code] ?? (cause === undefined ? withoutAddress(error) || code : describeError(cause));
}
