import { LRUCache } from 'lru-cache';
import { logger } from '@postroom/platform';
import { TRANSPORT_POLICY } from './policy.ts';
import type { Transport } from './transport.ts';

interface Entry {
  revision: number;
  transport: Promise<Transport>;
}

const close = (transport: Transport) =>
  transport.close().catch((error: unknown) => logger.warn({ err: error }, 'transport not closed'));

/** The transports that this process has opened. One whose settings change is replaced; the old one drains and closes. */
export class TransportCache {
  readonly #open = new LRUCache<string, Entry>({
    max: 10_000,
    ttl: TRANSPORT_POLICY.idleMs,
    updateAgeOnGet: true,
    // A transport that could not be opened has nothing to close.
    dispose: ({ transport }) => void transport.then(close, () => {}),
  });

  /** The transport of a provider's current settings, which `create` opens. */
  get(
    { id, revision }: { id: string; revision: number },
    create: () => Promise<Transport> | Transport,
  ): Promise<Transport> {
    const cached = this.#open.get(id);
    if (cached?.revision === revision) return cached.transport;
    this.#open.purgeStale();
    const entry = { revision, transport: Promise.resolve().then(create) };
    this.#open.set(id, entry);
    entry.transport.catch(() => {
      if (this.#open.peek(id) === entry) this.#open.delete(id);
    });
    return entry.transport;
  }
}
