import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The body of a webhook (spec: Delivery). */
export interface WebhookEvent {
  id: string;
  type: string;
  created: string;
  project_id: string;
  data: Record<string, unknown>;
}

/** Tolerance for timestamps; an older one may be a replay (spec: Signature). */
const TOLERANCE_SECONDS = 300;

/**
 * Whether `header`, an `X-Webhook-Signature`, signs exactly these bytes with this secret and is fresh (spec: Signature).
 */
export function isSigned(header: string, body: Buffer, secret: string, nowSeconds = Date.now() / 1000): boolean {
  const parts = header.split(',').map((part) => part.trim());
  const timestamp = parts.find((part) => part.startsWith('t='))?.slice(2) ?? '';
  if (!/^\d+$/.test(timestamp) || Math.abs(nowSeconds - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest();
  const given = Buffer.from(parts.find((part) => part.startsWith('v1='))?.slice(3) ?? '', 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

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
  /** Events by their type, each counted once. */
  byType: Map<string, number>;
}

/** A customer's server: it verifies each signature, responds with 204 and counts duplicates. */
export class Receiver {
  readonly tally: Tally = {
    posts: 0,
    verified: 0,
    refused: 0,
    repeatedEvents: 0,
    repeatedAttempts: 0,
    byType: new Map(),
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
    response.statusCode = this.#take(request, body) ? 204 : 401;
    response.end();
  }

  #take(request: IncomingMessage, body: Buffer): boolean {
    this.tally.posts++;
    const signature = String(request.headers['x-webhook-signature'] ?? '');
    if (this.secret === undefined || !isSigned(signature, body, this.secret)) {
      this.tally.refused++;
      return false;
    }
    this.tally.verified++;
    this.#count(JSON.parse(body.toString()) as WebhookEvent, String(request.headers['x-webhook-id'] ?? ''));
    this.#wake();
    return true;
  }

  #count(event: WebhookEvent, attemptId: string): void {
    if (this.#attemptIds.has(attemptId)) this.tally.repeatedAttempts++;
    this.#attemptIds.add(attemptId);
    if (this.#eventIds.has(event.id)) {
      this.tally.repeatedEvents++;
      return;
    }
    this.#eventIds.add(event.id);
    this.lastEventAt = performance.now();
    this.tally.byType.set(event.type, (this.tally.byType.get(event.type) ?? 0) + 1);
  }
}
