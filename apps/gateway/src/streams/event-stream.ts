import type { ServerResponse } from 'node:http';

/** Proxies close connections that are silent for a minute; some browsers show nothing before the first byte. */
const PING_EVERY_MS = 12_000;
const PING = ':\n\n';
/** When readers of a closing gateway connect again, in milliseconds. */
const RECONNECT_MS = { min: 250, max: 2_000 };

/**
 * A response of Server-Sent Events with bounded buffering: `send` waits until the connection accepts more, and a reader
 * who reads nothing for `stallMs` is disconnected.
 */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #stallMs: number;
  readonly #pings: NodeJS.Timeout;
  #drained: Promise<void> | undefined;

  constructor(response: ServerResponse, { stallMs }: { stallMs: number }) {
    this.#response = response;
    this.#stallMs = stallMs;
    response.req.socket.setTimeout(0).setNoDelay(true).setKeepAlive(true);
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-cache',
      'X-Accel-Buffering': 'no',
    });
    response.write(PING);
    this.#pings = setInterval(() => {
      if (!response.writableNeedDrain) response.write(PING);
    }, PING_EVERY_MS).unref();
    this.onClose(() => clearInterval(this.#pings));
  }

  get isOpen(): boolean {
    return !this.#response.destroyed && !this.#response.writableEnded;
  }

  /** Calls back when the reader disconnected, was cut off, or received everything. */
  onClose(call: () => void): void {
    if (this.#response.closed) call();
    else this.#response.once('close', call);
  }

  /** Sends an event after the previous ones have been written. Drops it if the reader has disconnected. */
  async send(event: 'next' | 'complete', data: string): Promise<void> {
    await this.#drained;
    if (!this.isOpen) return;
    if (this.#response.write(`event: ${event}\ndata:${data === '' ? '' : ` ${data}`}\n\n`)) return;
    this.#drained ??= this.#untilDrained();
    await this.#drained;
  }

  /** Ends the stream and has its reader connect again, after a time that differs between readers so that they don't rush. */
  reconnect(): void {
    const delayMs = RECONNECT_MS.min + Math.round(Math.random() * (RECONNECT_MS.max - RECONNECT_MS.min));
    this.#response.write(`retry: ${delayMs}\n\n`);
    this.end();
  }

  /** Flushes and closes the stream. */
  end(): void {
    this.#response.end();
    const timer = setTimeout(() => this.#response.destroy(), this.#stallMs).unref();
    this.onClose(() => clearTimeout(timer));
  }

  async #untilDrained(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => this.#response.destroy(), this.#stallMs);
      const done = () => {
        clearTimeout(timer);
        this.#response.off('drain', done).off('close', done);
        resolve();
      };
      this.#response.once('drain', done).once('close', done);
    });
    this.#drained = undefined;
  }
}
