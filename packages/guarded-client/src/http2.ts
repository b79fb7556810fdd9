import diagnostics from 'node:diagnostics_channel';
import type { TLSSocket } from 'node:tls';
import { type buildConnector, type Dispatcher, Pool } from 'undici';
import type { Exchange } from './exchange.ts';

/** The connection of a POST, and its state when the request was sent. */
interface Sent {
  socket: TLSSocket;
  bytesRead: number;
  atMs: number;
}

/** In-flight POSTs by their body's Buffer. undici reveals the socket of a request only on this channel. */
const inFlight = new WeakMap<Buffer, Http2Post>();

diagnostics.subscribe('undici:client:sendHeaders', (message) => {
  const { request, socket } = message as { request: { body: unknown }; socket: TLSSocket };
  const post = Buffer.isBuffer(request.body) ? inFlight.get(request.body) : undefined;
  if (post !== undefined) post.sent = { socket, bytesRead: socket.bytesRead, atMs: performance.now() };
});

interface Http2Options {
  connect: ReturnType<typeof buildConnector>;
  deadlineMs: number;
  /** The connection on which the receiver chose HTTP/2. */
  first: TLSSocket;
  /** Called when no connection is left: at the next one, the receiver may choose HTTP/1.1. */
  onClose: () => void;
}

/** Connections over HTTP/2 to an origin, which POSTs share. */
export class Http2Connections {
  readonly #origin: string;
  readonly #deadlineMs: number;
  readonly #pool: Pool;
  /** `undefined` once the pool has taken it. */
  #first: TLSSocket | undefined;

  constructor(origin: string, { connect, deadlineMs, first, onClose }: Http2Options) {
    this.#origin = origin;
    this.#deadlineMs = deadlineMs;
    this.#first = first;
    this.#pool = new Pool(origin, {
      connect: (target, callback) => {
        const socket = this.#first;
        this.#first = undefined;
        if (socket === undefined || socket.destroyed) connect(target, callback);
        else callback(null, socket);
      },
      allowH2: true,
      // Pings detect a dead connection while many posts share it.
      h2Options: { pingInterval: Math.ceil(deadlineMs / 3) },
      // The deadline of a POST always passes first. This timeout closes a connection that accepts no more streams,
      // which would otherwise be kept for posts that have already timed out.
      headersTimeout: 2 * deadlineMs,
      bodyTimeout: 0,
    });
    this.#pool.on('disconnect', () => {
      if (this.#pool.destroyed || this.#pool.stats.connected > 0) return;
      onClose();
      void this.#pool.close();
    });
  }

  send(exchange: Exchange): void {
    try {
      const body = Buffer.from(exchange.body, 'utf8');
      const post = new Http2Post(exchange, this.#deadlineMs);
      inFlight.set(body, post);
      const { path } = exchange;
      this.#pool.dispatch({ origin: this.#origin, path, method: 'POST', headers: exchange.headers(), body }, post);
    } catch (error) {
      exchange.fail(error as Error);
    }
  }

  async close(): Promise<void> {
    this.#first?.destroy();
    await this.#pool.destroy();
  }
}

/** A POST on a shared connection. undici sends it again if the receiver reports that it was not processed. */
class Http2Post implements Dispatcher.DispatchHandler {
  /** Set once the request is sent. */
  sent: Sent | undefined;
  readonly #exchange: Exchange;
  #controller: Dispatcher.DispatchController | undefined;

  constructor(exchange: Exchange, deadlineMs: number) {
    this.#exchange = exchange;
    exchange.onStop = (isTimeout) => {
      this.#controller?.abort(new Error('response limit reached'));
      if (isTimeout) this.#abandonSilentConnection(deadlineMs);
    };
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The deadline passed while it waited for a connection, so it must not be sent.
    if (this.#exchange.isOver) controller.abort(new Error('deadline exceeded'));
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#exchange.receiveStatus(status);
    const [retryAfter] = [headers['retry-after']].flat();
    if (retryAfter !== undefined) this.#exchange.receiveRetryAfter(retryAfter);
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#exchange.receiveBody(chunk);
  }

  onResponseEnd(): void {
    this.#exchange.complete();
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#exchange.fail(error);
  }

  /** A connection that did not even answer a ping is dead and would lose all later posts, so it is closed. */
  #abandonSilentConnection(deadlineMs: number): void {
    if (this.sent === undefined) return;
    const { socket, bytesRead, atMs } = this.sent;
    if (socket.bytesRead === bytesRead && performance.now() - atMs > deadlineMs / 2) socket.destroy();
  }
}
