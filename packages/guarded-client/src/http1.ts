import type { Socket } from 'node:net';
import { BrokenConnectionError, type Exchange } from './exchange.ts';
import { ResponseParser } from './response-parser.ts';

/** Bytes of status lines and headers that a receiver may send. Not measured. */
const MAX_HEAD_BYTES = 16_384;
/** How long an idle connection is kept if the receiver does not say how long it keeps it. Not measured. */
const IDLE_MS = 4_000;
/** Subtracted from the receiver's keep-alive timeout, which it started before its response arrived here. */
const IDLE_MARGIN_MS = 2_000;
const MAX_IDLE_MS = 600_000;

/**
 * A connection that the receiver had closed while it was idle fails within a round trip. One that is closed later than this may have
 * been closed by a receiver that failed while it handled the POST. Not measured.
 */
const STALE_MS = 1_000;
/** Errors of a connection that the other side closed while it was idle. */
const CLOSED = new Set(['ECONNRESET', 'EPIPE']);

interface Http1Events {
  /** The connection can be used for another POST. */
  onIdle: (connection: Http1Connection) => void;
  onClose: (connection: Http1Connection) => void;
  /** Another connection has to send the POST, because this one had probably been closed before the receiver saw it. */
  onStale: (exchange: Exchange) => void;
}

/** A connection over HTTP/1.1, which makes one POST at a time. */
export class Http1Connection {
  /** Until when an idle connection is kept, on the clock of `performance.now()`. */
  idleUntil = 0;
  readonly #socket: Socket;
  readonly #host: string;
  readonly #events: Http1Events;
  #exchange: Exchange | undefined;
  #parser: ResponseParser | undefined;
  #posts = 0;
  /** When the last POST was sent, on the clock of `performance.now()`. */
  #sentAt = 0;
  #hasResponse = false;
  #isClosed = false;

  constructor(socket: Socket, host: string, events: Http1Events) {
    this.#socket = socket;
    this.#host = host;
    this.#events = events;
    socket
      .on('data', (chunk: Buffer) => this.#receive(chunk))
      .on('error', (error) => this.#end(error))
      .on('end', () => this.#end())
      .on('close', () => this.#end());
  }

  /** Sends a POST. Call only after `onIdle`, or first. */
  send(exchange: Exchange): void {
    let request: string;
    try {
      request = requestText(exchange, this.#host);
    } catch (error) {
      exchange.fail(error as Error);
      return this.keep();
    }
    this.#posts++;
    this.#sentAt = performance.now();
    this.#hasResponse = false;
    this.#exchange = exchange;
    this.#parser = new ResponseParser(
      {
        onStatus: (status) => exchange.receiveStatus(status),
        onRetryAfter: (value) => exchange.receiveRetryAfter(value),
        onBody: (part) => exchange.receiveBody(part),
      },
      MAX_HEAD_BYTES,
    );
    exchange.onStop = () => this.close();
    this.#socket.ref();
    this.#socket.write(request);
  }

  /** Keeps the connection for another POST. */
  keep(idleMs = IDLE_MS): void {
    this.idleUntil = performance.now() + Math.min(idleMs, MAX_IDLE_MS);
    this.#socket.unref();
    this.#events.onIdle(this);
  }

  /** Closes the connection. A POST in flight fails. */
  close(): void {
    this.#exchange?.fail(new BrokenConnectionError());
    this.#end();
  }

  #receive(chunk: Buffer): void {
    const exchange = this.#exchange;
    const parser = this.#parser;
    // Unsolicited bytes could be taken for the next response.
    if (exchange === undefined || parser === undefined) return this.close();
    this.#hasResponse = true;
    let read: number;
    try {
      read = parser.push(chunk);
    } catch (error) {
      exchange.fail(error as Error);
      return this.close();
    }
    if (!parser.isComplete || this.#isClosed) return;
    this.#exchange = undefined;
    const idleMs = parser.idleMs === undefined ? IDLE_MS : parser.idleMs - IDLE_MARGIN_MS;
    if (parser.isPersistent && read === chunk.length && idleMs > 0) this.keep(idleMs);
    else this.close();
    exchange.complete();
  }

  #end(error?: NodeJS.ErrnoException): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const exchange = this.#exchange;
    this.#exchange = undefined;
    this.#socket.destroy();
    this.#events.onClose(this);
    if (exchange === undefined || exchange.isOver) return;
    if (error === undefined && this.#parser?.end() === true) return exchange.complete();
    const wasClosed = error === undefined || CLOSED.has(error.code ?? '');
    const isStale = this.#posts > 1 && !this.#hasResponse && wasClosed && performance.now() - this.#sentAt < STALE_MS;
    if (isStale && !exchange.isRetried) {
      exchange.isRetried = true;
      this.#events.onStale(exchange);
    } else exchange.fail(error ?? new BrokenConnectionError());
  }
}

function requestText(exchange: Exchange, host: string): string {
  let text = `POST ${exchange.path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  const headers = exchange.headers();
  for (const name in headers) {
    const value = headers[name] as string;
    if (!/^[\t\x20-\x7e]*$/.test(value)) throw new Error(`The header ${name} has characters that can't be sent.`);
    text += `${name}: ${value}\r\n`;
  }
  return `${text}content-length: ${Buffer.byteLength(exchange.body)}\r\n\r\n${exchange.body}`;
}
