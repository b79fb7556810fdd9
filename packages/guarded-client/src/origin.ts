import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { hostOf } from '@postroom/network';
import type { buildConnector } from 'undici';
import { BrokenConnectionError, type Exchange } from './exchange.ts';
import { Http1Connection } from './http1.ts';
import { Http2Connections } from './http2.ts';

interface OriginOptions {
  /** Opens a connection to an allowed address, and agrees on HTTP/2 where the receiver prefers it. */
  connect: ReturnType<typeof buildConnector>;
  deadlineMs: number;
  /** Called when no connection is left, open or being opened. */
  onEmpty: () => void;
}

/** The connections to an origin. Over HTTP/1.1, a POST uses an idle one or opens another. */
export class Origin {
  readonly #url: URL;
  readonly #options: OriginOptions;
  readonly #open = new Set<Http1Connection>();
  /** The most recently used one is last. */
  readonly #idle: Http1Connection[] = [];
  #opening = 0;
  #http2: Http2Connections | undefined;
  #isClosed = false;

  constructor(url: URL, options: OriginOptions) {
    this.#url = url;
    this.#options = options;
  }

  send(exchange: Exchange): void {
    if (this.#http2 !== undefined) return this.#http2.send(exchange);
    const idle = this.#takeIdle();
    if (idle === undefined) this.#connect(exchange);
    else idle.send(exchange);
  }

  /** Closes connections that have been idle for too long. */
  closeExpired(): void {
    const now = performance.now();
    for (const connection of this.#idle.filter(({ idleUntil }) => idleUntil <= now)) connection.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const connection of this.#open) connection.close();
    await this.#http2?.close();
  }

  #takeIdle(): Http1Connection | undefined {
    for (;;) {
      const connection = this.#idle.pop();
      if (connection === undefined || connection.idleUntil > performance.now()) return connection;
      connection.close();
    }
  }

  #connect(exchange: Exchange): void {
    const { host, protocol, port } = this.#url;
    this.#opening++;
    this.#options.connect({ host, hostname: hostOf(this.#url), protocol, port }, (error, socket) => {
      this.#opening--;
      if (error !== null) exchange.fail(error);
      else if (this.#isClosed) {
        socket.destroy();
        exchange.fail(new BrokenConnectionError());
      } else if ((socket as TLSSocket).alpnProtocol === 'h2') this.#useHttp2(socket as TLSSocket, exchange);
      else this.#useHttp1(socket, exchange);
      this.#checkEmpty();
    });
  }

  #useHttp1(socket: Socket, exchange: Exchange): void {
    const connection = new Http1Connection(socket, this.#url.host, {
      onIdle: () => void this.#idle.push(connection),
      onClose: () => {
        this.#open.delete(connection);
        const at = this.#idle.indexOf(connection);
        if (at !== -1) this.#idle.splice(at, 1);
        this.#checkEmpty();
      },
      onStale: (unanswered) => this.#connect(unanswered),
    });
    this.#open.add(connection);
    // The deadline passed while it waited for the connection, so it must not be sent.
    if (exchange.isOver) connection.keep();
    else connection.send(exchange);
  }

  #useHttp2(socket: TLSSocket, exchange: Exchange): void {
    if (this.#http2 === undefined) {
      const { connect, deadlineMs } = this.#options;
      this.#http2 = new Http2Connections(this.#url.origin, {
        connect,
        deadlineMs,
        first: socket,
        onClose: () => {
          this.#http2 = undefined;
          this.#checkEmpty();
        },
      });
    } else socket.destroy();
    if (!exchange.isOver) this.#http2.send(exchange);
  }

  #checkEmpty(): void {
    if (this.#opening === 0 && this.#open.size === 0 && this.#http2 === undefined) this.#options.onEmpty();
  }
}
