import { connect, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import { describeConnectionError } from './connection-errors.ts';
import type { TimeoutTimer } from './timeout-timer.ts';
import type { Relay } from './relay-url.ts';
import { SMTP_POLICY } from './policy.ts';
import { ReplyReader } from './replies.ts';

/** Current consumer of a connection: first the handshake, then the session. */
export interface ConnectionHandler {
  onReply(reply: ReplyReader): void;
  /** Called at most once. Nothing more is read or written. */
  onClosed(reason: string): void;
  /** The deadline has passed. */
  onTimeout(): void;
}

/** A connection to a mail server: writes text and emits parsed replies. */
export class SmtpConnection {
  /** When the current wait times out, in `timeouts.now` time (milliseconds). */
  deadline = Infinity;
  /** Must be set before `open`. */
  handler!: ConnectionHandler;
  readonly timeouts: TimeoutTimer;
  readonly #relay: Relay;
  readonly #replies = new ReplyReader((reply) => this.handler.onReply(reply));
  #socket: Socket | undefined;
  #closed = false;
  #isLost = false;

  constructor(relay: Relay, timer: TimeoutTimer) {
    this.#relay = relay;
    this.timeouts = timer;
    timer.watch(this);
  }

  get replies(): ReplyReader {
    return this.#replies;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Whether it ended on the server's side or on the way, and not because of a timeout or of something that the server sent. */
  get isLost(): boolean {
    return this.#isLost;
  }

  get encrypted(): boolean {
    return this.#socket !== undefined && 'encrypted' in this.#socket;
  }

  /** Connects, with implicit TLS if the relay uses it; `ready` is called once bytes can be sent. */
  open(ready: () => void): void {
    const { host, port, implicitTls, lookup } = this.#relay;
    const target = { host, port, ...(lookup === undefined ? {} : { lookup }) };
    if (implicitTls) {
      this.#attach(connectTls({ ...this.#tlsOptions(), ...target }, ready), true);
      return;
    }
    // One read buffer per connection: replies are short, and allocating a buffer for each would cost more than parsing it.
    const onread = {
      buffer: Buffer.allocUnsafeSlow(SMTP_POLICY.readBufferBytes),
      callback: (length: number, bytes: Uint8Array) => this.#read(bytes as Buffer, length),
    };
    this.#attach(connect({ ...target, onread }, ready), false);
  }

  /** Upgrades to TLS once the server has agreed. Plaintext received after its reply is rejected, to prevent response injection. */
  startTls(ready: () => void): void {
    if (this.#replies.midReply) return this.fail('The server sent data after its reply to STARTTLS');
    this.#attach(connectTls({ ...this.#tlsOptions(), socket: this.#socket! }, ready), true);
  }

  /** Writes text, one character per octet. `flushed` is called when the OS has accepted all of it, or with an error. */
  write(text: string, flushed?: (error?: Error | null) => void): void {
    this.#socket!.write(text, 'latin1', flushed);
  }

  /** Sets the deadline to `ms` milliseconds from now. */
  wait(ms: number): void {
    this.deadline = this.timeouts.now + ms;
  }

  expire(): void {
    this.handler.onTimeout();
  }

  /** Closes the connection immediately and tells the handler why. */
  fail(reason: string): void {
    if (this.#closed) return;
    this.close();
    this.handler.onClosed(reason);
  }

  /** Closes the connection immediately without notifying the handler. */
  close(): void {
    this.#closed = true;
    this.#replies.stop();
    this.timeouts.unwatch(this);
    this.#socket?.destroy();
  }

  #tlsOptions(): ConnectionOptions {
    const { host, insecure } = this.#relay;
    return { servername: isIP(host) ? '' : host, host, rejectUnauthorized: !insecure };
  }

  #attach(socket: Socket, readEvents: boolean): void {
    this.#socket = socket;
    socket.setNoDelay(true);
    if (readEvents) socket.on('data', (chunk: Buffer) => this.#read(chunk, chunk.length));
    socket.on('error', (error) => this.#lose(describeConnectionError(error)));
    socket.on('end', () => this.#lose('The server closed the connection'));
    socket.on('close', () => this.#lose('The connection was lost'));
  }

  #lose(reason: string): void {
    this.#isLost ||= !this.#closed;
    this.fail(reason);
  }

  #read(bytes: Buffer, length: number): boolean {
    if (!this.#closed && !this.#replies.push(bytes, length))
      this.fail('The server sent something that is not an SMTP reply');
    return true;
  }
}
