import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type PostroomEvent, verifyWebhook } from '../../sdk/typescript/src/index.ts';

/** What a webhook receiver has counted. */
export interface Tally {
  /** All POSTs. */
  posts: number;
  verified: number;
  /** Rejected with 401. */
  refused: number;
  /** Events received again after they were acknowledged. */
  repeatedEvents: number;
  /** Attempts received again: the sender gives each its own X-Webhook-Id. */
  repeatedAttempts: number;
}

/** A customer's server: it verifies each signature, responds with 204 and counts duplicates. */
export class Receiver {
  readonly tally: Tally = {
    posts: 0,
    verified: 0,
    refused: 0,
    repeatedEvents: 0,
    repeatedAttempts: 0,
  };
  /** The endpoint's secret; until it is set every request is rejected, and so retried. */
  secret: string | undefined;
  /** Arrival of the last new event as `performance.now()`. */
  lastEventAt: number | undefined;
  readonly #server: Server;
  readonly #eventIds = new Set<string>();
  readonly #attemptIds = new Set<string>();
  #wake: () => void = () => {};

  private constructor() {
    this.#server = createServer((request, response) => void this.#receive(request, response));
  }

  /** Starts one on a free port of this machine. */
  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    await new Promise<void>((resolve, reject) => {
      receiver.#server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/webhooks`;
  }

  /** Distinct events with a valid signature. */
  get events(): number {
    return this.#eventIds.size;
  }

  /** Resolves at the next event, or after `timeoutMs`. */
  async next(timeoutMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
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
      return; // the sender aborted the request and will retry
    }
    const body = Buffer.concat(chunks);
    response.statusCode = (await this.#take(request, body)) ? 204 : 401;
    response.end();
  }

  async #take(request: IncomingMessage, body: Buffer): Promise<boolean> {
    this.tally.posts++;
    const event = await verifyWebhook(body, request.headers, this.secret).catch(() => undefined);
    if (event === undefined) {
      this.tally.refused++;
      return false;
    }
    this.tally.verified++;
    this.#count(event, String(request.headers['x-webhook-id'] ?? ''));
    this.#wake();
    return true;
  }

  #count(event: PostroomEvent, attemptId: string): void {
    if (this.#attemptIds.has(attemptId)) this.tally.repeatedAttempts++;
    this.#attemptIds.add(attemptId);
    if (this.#eventIds.has(event.id)) {
      this.tally.repeatedEvents++;
      return;
    }
    this.#eventIds.add(event.id);
    this.lastEventAt = performance.now();
  }
}
