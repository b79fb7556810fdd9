import type { ServerResponse } from 'node:http';

/** How long news is gathered before it is sent, so that a campaign's thousands do not flood a page. */
const GATHER_MS = 400;
/** Proxies and browsers close what is silent for a minute. */
const HEARTBEAT_MS = 20_000;

/** The pages that watch the inbox, told over server-sent events that it has changed. They then ask for what they show. */
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
    response.req.socket.setTimeout(0); // its pages may be quiet for long
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
