import { type ConnectionCause, connectionFailure } from '@postroom/errors';
import { HeadersTooLargeError, NotHttpError } from './response-parser.ts';

export interface Post {
  url: string;
  /** Called each time the request is sent, so that its id is never reused. */
  headers: () => Record<string, string>;
  body: string;
}

/** The outcome of a POST. Nothing a receiver does makes it throw. */
export interface PostResponse {
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
export interface ExchangeLimits {
  /** Deadline for the whole exchange: DNS, connection, TLS, status, headers and body. */
  deadlineMs: number;
  /** After a 2xx status, the rest of the response has this long to arrive. */
  bodyGraceMs: number;
  /** Bytes kept of a response body; the rest is discarded. */
  responseBytes: number;
}

/** The outcome of a POST that was not sent. */
export function noResponse(error: string): PostResponse {
  return { durationMs: 0, status: null, error, body: '', retryAfter: null };
}

/** Any 2xx acknowledges (spec: Delivery). */
export const isSuccess = (status: number | null): boolean => status !== null && status >= 200 && status < 300;

/**
 * One POST and its response, until the response is complete, enough of it is read, the connection fails or the
 * deadline passes. A connection that sends it reports here what arrives.
 */
export class Exchange {
  readonly path: string;
  readonly headers: Post['headers'];
  readonly body: string;
  readonly response: Promise<PostResponse>;
  /** Set by the connection that sends it: cancels the request once its outcome is known. */
  onStop: ((isTimeout: boolean) => void) | undefined;
  /** Whether it was sent again, because the connection turned out to be closed. */
  isRetried = false;
  readonly #limits: ExchangeLimits;
  readonly #startedMs = performance.now();
  #timer: NodeJS.Timeout;
  #settle: ((response: PostResponse) => void) | undefined;
  readonly #parts: Buffer[] = [];
  #bytesRead = 0;
  #status: number | null = null;
  #retryAfter: string | null = null;

  constructor(path: string, { headers, body }: Post, limits: ExchangeLimits) {
    this.path = path;
    this.headers = headers;
    this.body = body;
    this.#limits = limits;
    this.response = new Promise((settle) => (this.#settle = settle));
    this.#timer = setTimeout(() => this.#timeOut(), limits.deadlineMs);
  }

  get isOver(): boolean {
    return this.#settle === undefined;
  }

  /** The final status. A 2xx acknowledges whatever follows; the body, kept for display, has a moment to arrive. */
  receiveStatus(status: number): void {
    if (this.#status !== null) return;
    this.#status = status;
    if (!isSuccess(status) || this.isOver) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#stop(null), this.#limits.bodyGraceMs);
  }

  receiveRetryAfter(value: string): void {
    this.#retryAfter ??= value;
  }

  receiveBody(part: Buffer): void {
    if (this.#bytesRead >= this.#limits.responseBytes) return;
    this.#parts.push(part);
    this.#bytesRead += part.length;
    if (this.#bytesRead >= this.#limits.responseBytes) this.#stop(null);
  }

  /** The response is complete. */
  complete(): void {
    this.#finish(null);
  }

  /** There will be no complete response. */
  fail(error: Error): void {
    if (!this.isOver) this.#finish(describeError(error));
  }

  #timeOut(): void {
    this.#stop(`No complete response within ${this.#limits.deadlineMs / 1000} seconds.`, true);
  }

  #stop(error: string | null, isTimeout = false): void {
    this.#finish(error);
    this.onStop?.(isTimeout);
  }

  #finish(error: string | null): void {
    const settle = this.#settle;
    this.#settle = undefined;
    clearTimeout(this.#timer);
    settle?.({
      durationMs: Math.round(performance.now() - this.#startedMs),
      status: this.#status,
      error: isSuccess(this.#status) ? null : error,
      body: readableText(this.#parts, this.#limits.responseBytes),
      retryAfter: this.#retryAfter,
    });
  }
}

/** At most `maxBytes` as text, cut at a character boundary and without NUL, which PostgreSQL cannot store. */
function readableText(parts: readonly Buffer[], maxBytes: number): string {
  if (parts.length === 0) return '';
  const bytes = Buffer.concat(parts).subarray(0, maxBytes);
  return new TextDecoder('utf-8').decode(bytes, { stream: true }).replaceAll('\0', '\uFFFD');
}

/** The connection ended before the response did. */
export class BrokenConnectionError extends Error {}

const BROKEN = 'The connection broke before the response was complete.';
const HEADERS_TOO_LARGE = 'The response headers were too large.';
const DESCRIPTIONS: Readonly<Record<ConnectionCause, string>> = {
  unknownHost: 'The hostname does not resolve.',
  lookupFailed: 'The hostname could not be resolved. The name servers may be busy.',
  refused: 'The connection was refused.',
  timedOut: 'No connection could be made in time.',
  unreachable: 'The address could not be reached.',
  closed: BROKEN,
  noTls: 'The receiver does not speak TLS on this port.',
  oldTls: 'The receiver supports no version of TLS from 1.2 on.',
  handshakeFailed: 'The TLS handshake failed (%s).',
  wrongHostname: 'The certificate is for another hostname.',
  notYetValid: 'The certificate is not valid yet.',
  expired: 'The certificate has expired.',
  selfSigned: 'The certificate is self-signed.',
  untrusted: 'The certificate is not trusted: its issuer is unknown, or an intermediate certificate is missing.',
};
/** By the code of undici or of HTTP/2. */
const HTTP_DESCRIPTIONS: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: BROKEN,
  UND_ERR_INFO: BROKEN,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: BROKEN,
  UND_ERR_HEADERS_OVERFLOW: HEADERS_TOO_LARGE,
  UND_ERR_CONNECT_TIMEOUT: DESCRIPTIONS.timedOut,
  ERR_HTTP2_STREAM_ERROR: 'The receiver reset the request before the response was complete.',
  ERR_HTTP2_SESSION_ERROR: BROKEN,
};

/** Describes a network error for the endpoint's owner. */
function describeError(error: Error): string {
  if (error instanceof BrokenConnectionError) return BROKEN;
  if (error instanceof NotHttpError) return 'The response was not HTTP.';
  if (error instanceof HeadersTooLargeError) return HEADERS_TOO_LARGE;
  const { code, cause, text } = connectionFailure(error);
  return cause === undefined ? (HTTP_DESCRIPTIONS[code] ?? text) : DESCRIPTIONS[cause].replace('%s', code);
}
