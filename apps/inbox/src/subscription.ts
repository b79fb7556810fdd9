import type { ServerResponse } from 'node:http';

/** How long changes are collected before pages are notified, so that a campaign's mails do not flood them. */
const GATHER_MS = 400;
/** Proxies and browsers close connections that are silent for a minute. */
const HEARTBEAT_MS = 20_000;

/** Notifies open pages over server-sent events that the inbox has changed; they then reload what they show. */
export class Live {
  readonly #watchers = new Set<ServerResponse>();
  #timer: NodeJS.Timeout | undefined;
  #received = 0;
  #deleted = 0;
  readonly #heartbeat = setInterval(() => this.#send(': still here\n\n'), HEARTBEAT_MS).unref();

  watch(response: ServerResponse): void {
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    response.req.socket.setTimeout(0); // its pages may be idle for long
    response.write('retry: 1000\n\n');
    this.#watchers.add(response);
    response.on('close', () => this.#watchers.delete(response));
  }

  changed({ received = 0, deleted = 0 }: { received?: number; deleted?: number }): void {
    this.#received += received;
    this.#deleted += deleted;
    this.#timer ??= setTimeout(() => this.#tell(), GATHER_MS);
  }

  #tell(): void {
    this.#timer = undefined;
    this.#send(`event: changed\ndata: ${JSON.stringify({ received: this.#received, deleted: this.#deleted })}\n\n`);
    this.#received = 0;
    this.#deleted = 0;
  }

  #send(text: string): void {
    for (const watcher of this.#watchers) watcher.write(text);
  }

  stop(): void {
    clearInterval(this.#heartbeat);
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers) watcher.end();
  }
}
