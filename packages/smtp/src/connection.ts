import { connect, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import { withoutAddress } from '@postroom/platform';
import type { TimeoutTimer } from './timeout-timer.ts';
import type { Relay } from './relay-url.ts';
import { ReplyReader } from './replies.ts';

const READ_BUFFER = 16 * 1024;

/** Whoever speaks over a wire at the moment: first the handshake, then the dialogue. */
export interface ConnectionHandler {
  reply(reply: ReplyReader): void;
  /** Once at most. Nothing more is read, and nothing written arrives. */
  broken(reason: string): void;
  /** The deadline has passed. */
  expired(): void;
}

/** A connection to a mail server, as replies in and text out. */
export class SmtpConnection {
  /** When the speaker's patience ends, in the clock's time. */
  deadline = Infinity;
  /** Set before anything is opened. */
  handler!: ConnectionHandler;
  readonly timeouts: TimeoutTimer;
  readonly #relay: Relay;
  readonly #replies = new ReplyReader((reply) => this.handler.reply(reply));
  #socket: Socket | undefined;
  #broken = false;

  constructor(relay: Relay, clock: TimeoutTimer) {
    this.#relay = relay;
    this.timeouts = clock;
    clock.watch(this);
  }

  get replies(): ReplyReader {
    return this.#replies;
  }

  get isBroken(): boolean {
    return this.#broken;
  }

  get encrypted(): boolean {
    return this.#socket !== undefined && 'encrypted' in this.#socket;
  }

  /** Connects; `ready` is called when bytes can be sent, with TLS where the relay's URL begins with it. */
  open(ready: () => void): void {
    const { host, port, implicitTls, lookup } = this.#relay;
    const where = { host, port, ...(lookup === undefined ? {} : { lookup }) };
    if (implicitTls) {
      this.#use(connectTls({ ...this.#tlsOptions(), ...where }, ready), true);
      return;
    }
    // One buffer per connection for all that is read: replies are short, and a new buffer for each costs more than they do.
    const onread = {
      buffer: Buffer.allocUnsafeSlow(READ_BUFFER),
      callback: (length: number, bytes: Uint8Array) => this.#read(bytes as Buffer, length),
    };
    this.#use(connect({ ...where, onread }, ready), false);
  }

  /** Turns to TLS after the server agreed. What it sent before that in the clear must not be read after it. */
  startTls(ready: () => void): void {
    if (this.#replies.midReply) return this.break('The server sent more than its answer to STARTTLS');
    this.#use(connectTls({ ...this.#tlsOptions(), socket: this.#socket! }, ready), true);
  }

  /** Writes text of one character per octet. `flushed` is called when the system has taken all of it, or failed to. */
  write(text: string, flushed?: (error?: Error | null) => void): void {
    this.#socket!.write(text, 'latin1', flushed);
  }

  /** Sets the deadline to so many milliseconds from now. */
  wait(ms: number): void {
    this.deadline = this.timeouts.now + ms;
  }

  expire(): void {
    this.handler.expired();
  }

  /** Ends the connection at once, and tells the speaker why. */
  break(reason: string): void {
    if (this.#broken) return;
    this.close();
    this.handler.broken(reason);
  }

  /** Ends the connection at once and in silence. */
  close(): void {
    this.#broken = true;
    this.#replies.stop();
    this.timeouts.unwatch(this);
    this.#socket?.destroy();
  }

  #tlsOptions(): ConnectionOptions {
    const { host, insecure } = this.#relay;
    return { servername: isIP(host) ? '' : host, host, rejectUnauthorized: !insecure };
  }

  #use(socket: Socket, byEvents: boolean): void {
    this.#socket = socket;
    socket.setNoDelay(true);
    if (byEvents) socket.on('data', (chunk: Buffer) => this.#read(chunk, chunk.length));
    socket.on('error', (error: NodeJS.ErrnoException) => this.break(describe(error)));
    socket.on('end', () => this.break('The server closed the connection'));
    socket.on('close', () => this.break('The connection was lost'));
  }

  #read(bytes: Buffer, length: number): boolean {
    if (!this.#broken && !this.#replies.push(bytes, length))
      this.break('The server answered with something that is not SMTP');
    return true;
  }
}

/** The parts of an error that help an operator; an error of several addresses tried has them in its list. */
function describe(error: NodeJS.ErrnoException): string {
  const first = error instanceof AggregateError ? (error.errors[0] as NodeJS.ErrnoException) : error;
  const message = withoutAddress(first) || 'Connection error';
  return first.code && !message.includes(first.code) ? `${message} (${first.code})` : message;
}
