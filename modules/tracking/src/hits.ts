import { logger, pool } from '@postroom/platform';
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
  /** For a click: receives the target URL. */
  resolve?: (url: string | undefined) => void;
  reject?: (error: unknown) => void;
}

const {
  maxBatch: MAX_BATCH,
  maxWaiting: MAX_WAITING,
  retryMs: RETRY_MS,
  maxRetries: MAX_RETRIES,
} = TRACKING_POLICY.store;

/** Stores hits, except those of deleted messages. Returns the target of each click by the position of its hit (`nth`, from 1). */
const STORE = `
  WITH hit AS (
    SELECT * FROM unnest($1::text[], $2::int[], $3::timestamptz[], $4::text[], $5::text[], $6::text[]) WITH ORDINALITY
      AS h(message_id, position, at, user_agent, network, reason, nth)
  ), known AS (
    SELECT h.*, l.url FROM hit h JOIN messages m ON m.id = h.message_id AND NOT ${hasMoved('m.project_id')}
    LEFT JOIN tracked_links l ON h.position IS NOT NULL
      AND l.owner_id = coalesce(m.campaign_id, m.copy_of, m.id) AND l.position = h.position
  ), stored AS (
    INSERT INTO tracking_hits (message_id, kind, position, at, user_agent, network, reason)
    SELECT message_id, CASE WHEN position IS NULL THEN 'open' ELSE 'click' END::hit_kind, position, at, user_agent, network, reason
    FROM known WHERE position IS NULL OR url IS NOT NULL
  )
  SELECT nth::int, url FROM known WHERE url IS NOT NULL`;

/**
 * Stores hits in batches, with one statement in flight: hits that arrive while a batch commits form the next one. A click is
 * answered once it is stored. An open is answered immediately, so a crash loses at most the opens of a few milliseconds.
 */
export class Hits {
  #waiting: Waiting[] = [];
  #storing: Promise<void> | undefined;
  #dropped = 0;
  readonly #onStored: () => void;

  constructor(onStored: () => void = () => {}) {
    this.#onStored = onStored;
  }

  /** Queues an open. It is dropped if too many hits are queued. */
  addOpen(hit: Hit): void {
    if (this.#waiting.length >= MAX_WAITING) this.#drop();
    else this.#add({ hit });
  }

  /** Stores a click and returns the target of its link; undefined if the link does not exist. @throws Error if too many hits are queued. */
  addClick(hit: Hit): Promise<string | undefined> {
    if (this.#waiting.length >= MAX_WAITING) return Promise.reject(new Error('Too many hits are queued.'));
    return new Promise((resolve, reject) => this.#add({ hit, resolve, reject }));
  }

  /** Resolves once all queued hits are stored or dropped. */
  async flush(): Promise<void> {
    while (this.#storing !== undefined) await this.#storing;
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
        const urls = await store(batch.map(({ hit }) => hit));
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

async function store(hits: readonly Hit[]): Promise<Map<number, string>> {
  const { rows } = await pool.query<{ nth: number; url: string }>({
    name: 'tracking-store-hits',
    text: STORE,
    values: [
      hits.map(({ messageId }) => messageId),
      hits.map(({ position }) => position),
      hits.map(({ at }) => at),
      hits.map(({ userAgent }) => userAgent?.replaceAll('\0', '').slice(0, 500) ?? null),
      hits.map(({ network }) => network ?? null),
      hits.map(({ reason }) => reason ?? null),
    ],
  });
  return new Map(rows.map(({ nth, url }) => [nth, url]));
}
