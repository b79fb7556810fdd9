import { LRUCache } from 'lru-cache';
import { hasCode, logger, pool, READ_ONLY, SUPERSEDED, TokenBucket } from '@postroom/platform';
import { hasMoved } from '@postroom/projects/sql';
import { TRACKING_POLICY } from './policy.ts';

/** A fetch of a pixel (`position` null) or of a link. */
export interface Hit {
  messageId: string;
  position: number | null;
  at: Date;
  userAgent: string | undefined;
  network: string | undefined;
  /** The reason to classify it as a bot's, if the request alone shows it. */
  reason: string | undefined;
}

interface Waiting {
  hit: Hit;
  /** Whether to store it, and not only to look up its target. */
  isCounted: boolean;
  /** For a click: receives the target URL. */
  resolve?: (url: string | undefined) => void;
  reject?: (error: unknown) => void;
}

const {
  maxBatch: MAX_BATCH,
  maxWaiting: MAX_WAITING,
  retryMs: RETRY_MS,
  maxRetries: MAX_RETRIES,
  perMessage: PER_MESSAGE,
  countedMessages: COUNTED_MESSAGES,
} = TRACKING_POLICY.store;

/** Hits, and the targets of their links, except those of deleted messages. */
const KNOWN = `
  WITH hit AS (
    SELECT * FROM unnest($1::text[], $2::int[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::boolean[])
      WITH ORDINALITY AS h(message_id, position, at, user_agent, network, reason, is_counted, nth)
  ), known AS (
    SELECT h.*, m.project_id, l.url FROM hit h JOIN messages m ON m.id = h.message_id AND NOT ${hasMoved('m.project_id')}
    LEFT JOIN tracked_links l ON h.position IS NOT NULL
      AND l.owner_id = coalesce(m.campaign_id, m.copy_of, m.id) AND l.position = h.position
  )`;

const TARGETS = 'SELECT nth::int, url FROM known WHERE url IS NOT NULL';

/** Stores the hits that count. Returns the target of each click by the position of its hit (`nth`, from 1). */
const STORE = `${KNOWN}, stored AS (
    INSERT INTO tracking_hits (message_id, project_id, kind, position, at, user_agent, network, reason)
    SELECT message_id, project_id, CASE WHEN position IS NULL THEN 'open' ELSE 'click' END::hit_kind, position, at, user_agent, network, reason
    FROM known WHERE is_counted AND (position IS NULL OR url IS NOT NULL)
  ) ${TARGETS}`;

/**
 * Stores hits in batches, with one statement in flight: hits that arrive while a batch commits form the next one. A click is
 * answered once it is stored. An open is answered immediately, so a crash loses at most the opens of a few milliseconds. Beyond a
 * rate per message, hits are not stored: a recipient of one mail could otherwise fill the queue and the table that all mail shares.
 */
export class Hits {
  #waiting: Waiting[] = [];
  #storing: Promise<void> | undefined;
  #dropped = 0;
  /** The allowances of messages, by message and kind of hit. */
  readonly #rates = new LRUCache<string, TokenBucket>({ max: COUNTED_MESSAGES });
  /** Lookups of the targets of clicks that are not stored, by message and link. */
  readonly #lookups = new Map<string, Promise<string | undefined>>();
  readonly #onStored: () => void;

  constructor(onStored: () => void = () => {}) {
    this.#onStored = onStored;
  }

  /** Queues an open. It is dropped if too many hits are queued, or too many are of this message. */
  addOpen(hit: Hit): void {
    if (!this.#takeFrom(`${hit.messageId} open`)) return;
    if (this.#waiting.length >= MAX_WAITING) this.#drop();
    else this.#add({ hit, isCounted: true });
  }

  /**
   * Stores a click, unless too many are of this message, and returns the target of its link; undefined if the link does not exist.
   * @throws Error if too many hits are queued.
   */
  addClick(hit: Hit): Promise<string | undefined> {
    if (this.#takeFrom(`${hit.messageId} click`)) return this.#resolveClick(hit, true);
    const link = `${hit.messageId} ${hit.position}`;
    const lookup = this.#lookups.get(link) ?? this.#resolveClick(hit, false).finally(() => this.#lookups.delete(link));
    this.#lookups.set(link, lookup);
    return lookup;
  }

  /** Resolves once all queued hits are stored or dropped. */
  async flush(): Promise<void> {
    while (this.#storing !== undefined) await this.#storing;
  }

  #takeFrom(name: string): boolean {
    const rate = this.#rates.get(name) ?? new TokenBucket(PER_MESSAGE);
    this.#rates.set(name, rate);
    if (rate.available() < 1) return false;
    rate.spend(1);
    return true;
  }

  #resolveClick(hit: Hit, isCounted: boolean): Promise<string | undefined> {
    if (this.#waiting.length >= MAX_WAITING) return Promise.reject(new Error('Too many hits are queued.'));
    return new Promise((resolve, reject) => this.#add({ hit, isCounted, resolve, reject }));
  }

  #add(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.#storing ??= this.#storeAll().finally(() => (this.#storing = undefined));
  }

  #drop(): void {
    if (this.#dropped++ % 10_000 === 0)
      logger.warn({ dropped: this.#dropped }, 'dropping opens, because they arrive faster than they can be stored');
  }

  async #storeAll(): Promise<void> {
    // Include hits that arrive on other connections in the same event-loop iteration.
    await new Promise(setImmediate);
    let failures = 0;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_BATCH);
      try {
        const urls = await store(batch);
        batch.forEach(({ resolve }, index) => resolve?.(urls.get(index + 1)));
        failures = 0;
        this.#onStored();
      } catch (error) {
        logger.error({ err: error }, 'failed to store hits');
        for (const { reject } of batch) reject?.(error);
        if (++failures > MAX_RETRIES) continue;
        this.#waiting.unshift(...batch.filter(({ resolve }) => resolve === undefined));
        await new Promise((retry) => setTimeout(retry, RETRY_MS));
      }
    }
  }
}

async function store(batch: readonly Waiting[]): Promise<Map<number, string>> {
  const hits = batch.map(({ hit }) => hit);
  const values = [
    hits.map(({ messageId }) => messageId),
    hits.map(({ position }) => position),
    hits.map(({ at }) => at),
    hits.map(({ userAgent }) => userAgent?.replaceAll('\0', '').slice(0, 500) ?? null),
    hits.map(({ network }) => network ?? null),
    hits.map(({ reason }) => reason ?? null),
    batch.map(({ isCounted }) => isCounted),
  ];
  const run = (name: string, text: string) => pool.query<{ nth: number; url: string }>({ name, text, values });
  const { rows } = await run('tracking-store-hits', STORE).catch((error: unknown) => {
    // The hits can't be stored in a database that is not the primary, but readers must reach their pages.
    if (!hasCode(error, SUPERSEDED, READ_ONLY)) throw error;
    return run('tracking-find-targets', `${KNOWN} ${TARGETS}`);
  });
  return new Map(rows.map(({ nth, url }) => [nth, url]));
}
