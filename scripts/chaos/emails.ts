import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { System } from './system.ts';

/** A request with its response. */
interface Sent {
  address: string;
  /** Whether the response was 202. */
  isAccepted: boolean;
}

const EVERY_MS = 250;
const PAUSE_MS = 200;
/** A key that a killed gateway holds is taken over after five seconds (docs/decisions/idempotency.md). */
const GIVE_UP_MS = 60_000;

/** Sends a transactional email at intervals as an integrator does: with an Idempotency-Key, retrying until it gets a final response. */
export class Drip {
  readonly sent: Sent[] = [];
  readonly #system: System;
  readonly #underWay = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  #count = 0;

  constructor(system: System) {
    this.#system = system;
    this.#timer = setInterval(() => {
      const one = this.#send(`receipt${this.#count++}@receipts.test`).finally(() => this.#underWay.delete(one));
      this.#underWay.add(one);
    }, EVERY_MS);
  }

  /** Stops sending, and resolves when each request has its response. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#underWay);
  }

  async #send(address: string): Promise<void> {
    const init = {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${this.#system.key}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': randomUUID(),
      },
      body: JSON.stringify({
        from: 'hello@demo.postroom.example',
        to: [address],
        subject: 'Your receipt',
        text: 'Thank you.',
      }),
    };
    for (const giveUpAt = Date.now() + GIVE_UP_MS; ; await sleep(PAUSE_MS)) {
      const status = await this.#post(init);
      const isFinal = status !== undefined && status < 500 && status !== 409;
      if (isFinal || Date.now() > giveUpAt) return void this.sent.push({ address, isAccepted: status === 202 });
    }
  }

  async #post(init: RequestInit): Promise<number | undefined> {
    try {
      const response = await fetch(`${this.#system.url}/v1/emails`, { ...init, signal: AbortSignal.timeout(30_000) });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return undefined;
    }
  }
}
