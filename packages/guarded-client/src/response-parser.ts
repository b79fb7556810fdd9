const LF = 0x0a;
const CR = 0x0d;

/** What arrives, in this order. */
export interface ResponseEvents {
  /** The final status, as soon as it is known, whatever follows. */
  onStatus: (status: number) => void;
  /** The value of a Retry-After header. */
  onRetryAfter: (value: string) => void;
  /** A part of the body, without the framing of chunks. */
  onBody: (part: Buffer) => void;
}

/** Bytes that are not a response of HTTP/1 (RFC 9112). */
export class NotHttpError extends Error {}
/** The status lines and headers, of interim responses too, have more than `maxHeadBytes`. */
export class HeadersTooLargeError extends Error {}

/** How the end of the body is found (RFC 9112, 6.3). */
type Framing = 'none' | 'length' | 'chunked' | 'close';

type State =
  | 'status'
  /** Headers of an interim response, which are ignored. */
  | 'interim'
  | 'headers'
  | 'body'
  | 'chunk size'
  | 'chunk end'
  | 'trailers'
  | 'complete';

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/;
/** The status line up to the status, so that we need not wait for a reason phrase that may never arrive. */
const STATUS_START = /^HTTP\/1\.[01] ([1-9]\d\d)[ \r]/;
const STATUS_START_LENGTH = 'HTTP/1.1 200 '.length;
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\0\r]*)$/;
const CHUNK_SIZE = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?$/i;

/**
 * Incremental parser for the response to one POST over HTTP/1.0 or 1.1, linear in the size of the response. Interim responses (100 to
 * 199, except 101) are skipped, also `100 Continue`, which clients must accept even if they did not ask for it (RFC 9110, 10.1.1).
 */
export class ResponseParser {
  readonly #events: ResponseEvents;
  readonly #maxHeadBytes: number;
  #state: State = 'status';
  /** The beginning of a line whose end has not arrived. */
  #line = '';
  #headBytes = 0;
  #status = 0;
  #isStatusKnown = false;
  #isPersistent = true;
  #contentLength: number | undefined;
  #transferEncoding: string | undefined;
  #framing: Framing = 'none';
  /** Bytes of the body, or of the current chunk, that are yet to come. */
  #left = 0;
  #idleMs: number | undefined;

  /** @param maxHeadBytes of status lines, headers, chunk sizes and trailers together. */
  constructor(events: ResponseEvents, maxHeadBytes: number) {
    this.#events = events;
    this.#maxHeadBytes = maxHeadBytes;
  }

  get isComplete(): boolean {
    return this.#state === 'complete';
  }

  /** Whether the connection can be used for another request once the response is complete. */
  get isPersistent(): boolean {
    return this.#isPersistent && this.#framing !== 'close';
  }

  /** How long the server keeps an idle connection, in milliseconds; `undefined` if it does not say. */
  get idleMs(): number | undefined {
    return this.#idleMs;
  }

  /**
   * Parses the next bytes.
   * @returns how many of them belong to the response.
   * @throws NotHttpError, HeadersTooLargeError
   */
  push(chunk: Buffer): number {
    let at = 0;
    while (at < chunk.length && this.#state !== 'complete')
      at = this.#state === 'body' ? this.#readBody(chunk, at) : this.#readLine(chunk, at);
    return at;
  }

  /** Call when the connection has ended. @returns whether that was the end of the response. */
  end(): boolean {
    if (this.#state === 'body' && this.#framing === 'close') this.#state = 'complete';
    return this.isComplete;
  }

  #readLine(chunk: Buffer, from: number): number {
    const end = chunk.indexOf(LF, from);
    const to = end === -1 ? chunk.length : end;
    this.#headBytes += to - from + 1;
    this.#line += chunk.toString('latin1', from, end > from && chunk[end - 1] === CR ? end - 1 : to);
    if (this.#state === 'status' && !this.#isStatusKnown && this.#line.length >= STATUS_START_LENGTH)
      this.#startStatusLine();
    if (this.#headBytes > this.#maxHeadBytes) throw new HeadersTooLargeError();
    if (end === -1) return to;
    const line = this.#line.endsWith('\r') ? this.#line.slice(0, -1) : this.#line;
    this.#line = '';
    this.#endLine(line);
    return end + 1;
  }

  #startStatusLine(): void {
    const digits = STATUS_START.exec(this.#line)?.[1];
    if (digits === undefined) throw new NotHttpError();
    this.#setStatus(Number(digits));
  }

  #setStatus(status: number): void {
    // After 101 the connection has another protocol, which nobody asked for.
    if (status === 101) throw new NotHttpError();
    this.#isStatusKnown = true;
    this.#status = status;
    if (status >= 200) this.#events.onStatus(status);
  }

  #endLine(line: string): void {
    switch (this.#state) {
      case 'status':
        return this.#endStatusLine(line);
      case 'interim':
        if (line === '') this.#state = 'status';
        return;
      case 'headers':
        return line === '' ? this.#endHeaders() : this.#endHeader(line);
      case 'chunk size':
        return this.#endChunkSize(line);
      case 'chunk end':
        if (line !== '') throw new NotHttpError();
        this.#state = 'chunk size';
        return;
      case 'trailers':
        if (line === '') this.#state = 'complete';
        return;
      default:
    }
  }

  #endStatusLine(line: string): void {
    // A server may send an empty line after the previous response.
    if (line === '') return;
    const [, version, digits] = STATUS_LINE.exec(line) ?? [];
    if (digits === undefined) throw new NotHttpError();
    if (!this.#isStatusKnown) this.#setStatus(Number(digits));
    if (this.#status >= 200) {
      this.#isPersistent = version === '1';
      this.#state = 'headers';
    } else {
      this.#isStatusKnown = false;
      this.#state = 'interim';
    }
  }

  #endHeader(line: string): void {
    // A folded line continues the previous header (RFC 9112, 5.2). None of the headers that we read needs folding.
    if (line.startsWith(' ') || line.startsWith('\t')) return;
    const [, name, rest] = HEADER.exec(line) ?? [];
    if (name === undefined || rest === undefined) throw new NotHttpError();
    const value = rest.trimEnd();
    switch (name.toLowerCase()) {
      case 'content-length':
        return this.#setContentLength(value);
      case 'transfer-encoding':
        this.#transferEncoding = this.#transferEncoding === undefined ? value : `${this.#transferEncoding}, ${value}`;
        return;
      case 'connection':
        if (/(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(value)) this.#isPersistent = false;
        else if (/(?:^|,)[ \t]*keep-alive[ \t]*(?:,|$)/i.test(value)) this.#isPersistent = true;
        return;
      case 'keep-alive': {
        const seconds = /(?:^|[\s,;])timeout=(\d{1,6})/i.exec(value)?.[1];
        if (seconds !== undefined) this.#idleMs = Number(seconds) * 1_000;
        return;
      }
      case 'retry-after':
        return this.#events.onRetryAfter(value);
      default:
    }
  }

  /** Accepts a list that repeats one length (RFC 9112, 6.3). */
  #setContentLength(value: string): void {
    for (const part of value.split(',')) {
      const digits = part.trim();
      const length = Number(digits);
      const differs = this.#contentLength !== undefined && this.#contentLength !== length;
      if (!/^\d{1,15}$/.test(digits) || differs) throw new NotHttpError();
      this.#contentLength = length;
    }
  }

  #endHeaders(): void {
    this.#framing = this.#framingOf();
    this.#left = this.#framing === 'length' ? (this.#contentLength ?? 0) : Infinity;
    if (this.#framing === 'none' || this.#left === 0) this.#state = 'complete';
    else this.#state = this.#framing === 'chunked' ? 'chunk size' : 'body';
  }

  #framingOf(): Framing {
    if (this.#status === 204 || this.#status === 304) return 'none';
    if (this.#transferEncoding !== undefined) {
      // A response with both headers may be an attempt at response splitting, so the connection is not reused.
      if (this.#contentLength !== undefined) this.#isPersistent = false;
      return /(?:^|,)[ \t]*chunked$/i.test(this.#transferEncoding) ? 'chunked' : 'close';
    }
    return this.#contentLength === undefined ? 'close' : 'length';
  }

  #endChunkSize(line: string): void {
    const digits = CHUNK_SIZE.exec(line)?.[1];
    if (digits === undefined) throw new NotHttpError();
    this.#left = Number.parseInt(digits, 16);
    this.#state = this.#left === 0 ? 'trailers' : 'body';
  }

  #readBody(chunk: Buffer, from: number): number {
    const to = Math.min(chunk.length, from + this.#left);
    this.#left -= to - from;
    this.#events.onBody(from === 0 && to === chunk.length ? chunk : chunk.subarray(from, to));
    if (this.#left === 0) {
      if (this.#framing === 'chunked') {
        this.#state = 'chunk end';
        // The limit applies to the size line of each chunk, so that a body may have any number of chunks.
        this.#headBytes = 0;
      } else this.#state = 'complete';
    }
    return to;
  }
}
