import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How an endpoint behaves. Only `healthy` reads and acknowledges requests. */
export type Manner = 'healthy' | 'drop' | 'stall' | 'garbage' | 'flood';

/** What a flooding endpoint would send if the client read all of it. */
const FLOOD_BYTES = 1024 ** 3;
const CHUNK = Buffer.alloc(64 * 1024, 'x');

/** A customer's endpoint that counts requests. */
export class Receiver {
  manner: Manner;
  /** POSTs received in full, by the event's id. */
  readonly events = new Map<string, number>();
  posts = 0;
  /** The largest part of one flood that the client read, in bytes. */
  mostFlood = 0;
  readonly #server: Server;

  private constructor(manner: Manner) {
    this.manner = manner;
    this.#server = createServer((request, response) => void this.#receive(request, response));
    this.#server.keepAliveTimeout = 60_000;
  }

  static async start(manner: Manner): Promise<Receiver> {
    const receiver = new Receiver(manner);
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${this.manner}`;
  }

  /** POSTs of an event after the first. */
  get duplicates(): number {
    return [...this.events.values()].reduce((sum, times) => sum + times - 1, 0);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return; // the sender was killed in the middle
    }
    this.posts++;
    const { id } = JSON.parse(Buffer.concat(chunks).toString()) as { id: string };
    this.events.set(id, (this.events.get(id) ?? 0) + 1);
    const { socket } = request;
    if (this.manner === 'drop') socket.resetAndDestroy();
    else if (this.manner === 'garbage') socket.end('\0\x01 this is no HTTP \r\n\r\n');
    else if (this.manner === 'flood') this.#flood(response);
    else if (this.manner === 'healthy') response.writeHead(204).end();
  }

  #flood(response: ServerResponse): void {
    response.writeHead(200, { 'Content-Type': 'application/octet-stream' });
    let left = FLOOD_BYTES;
    const more = () => {
      while (left > 0) {
        left -= CHUNK.length;
        this.mostFlood = Math.max(this.mostFlood, FLOOD_BYTES - left);
        if (!response.write(CHUNK)) return;
      }
      response.end();
    };
    response.on('drain', more);
    response.on('close', () => (left = 0));
    more();
  }
}
