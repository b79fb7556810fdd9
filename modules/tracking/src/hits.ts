import { logger, pool } from '@postroom/platform';

/** A fetch of a pixel (`position` null) or of a link. */
export interface Hit {
  messageId: string;
  position: number | null;
  at: Date;
  userAgent: string | undefined;
  network: string | undefined;
  /** Why it is a program's, if the request itself says so. */
  reason: string | undefined;
}

interface Waiting {
  hit: Hit;
  /** For a link: takes where it leads. */
  resolve?: (url: string | undefined) => void;
  reject?: (error: unknown) => void;
}

/** Hits in one statement at most. */
const MAX_SET = 1_000;
/** Hits that may wait; more are not counted, and links answer 503. */
const MAX_WAITING = 20_000;
/** A failed set of opens is tried again after this, in milliseconds. */
const RETRY_MS = 1_000;

/** Hits of messages that are gone are not kept; what a link leads to comes back in the order of the hits. */
const STORE = `
  WITH hit AS (
    SELECT * FROM unnest($1::text[], $2::int[], $3::timestamptz[], $4::text[], $5::text[], $6::text[]) WITH ORDINALITY
      AS h(message_id, position, at, user_agent, network, reason, nth)
  ), known AS (
    SELECT h.*, l.url FROM hit h JOIN messages m ON m.id = h.message_id
    LEFT JOIN tracked_links l ON h.position IS NOT NULL
      AND l.owner_id = coalesce(m.campaign_id, m.copy_of, m.id) AND l.position = h.position
  ), kept AS (
    INSERT INTO tracking_hits (message_id, kind, position, at, user_agent, network, reason)
    SELECT message_id, CASE WHEN position IS NULL THEN 'open' ELSE 'click' END::hit_kind, position, at, user_agent, network, reason
    FROM known WHERE position IS NULL OR url IS NOT NULL
  )
  SELECT nth::int, url FROM known WHERE url IS NOT NULL`;

/**
 * Keeps hits in sets: what comes while one set is being committed goes with the next, so that however many come, one
 * statement at a time is under way. A click is answered when it is kept; an open at once, so that a kill loses the opens of
 * a few milliseconds at most.
 */
export class Hits {
  #waiting: Waiting[] = [];
  #storing: Promise<void> | undefined;
  #dropped = 0;
  readonly #onKept: () => void;

  constructor(onKept: () => void = () => {}) {
    this.#onKept = onKept;
  }

  /** Somebody opened a message. */
  opened(hit: Hit): void {
    if (this.#waiting.length >= MAX_WAITING) this.#drop();
    else this.#add({ hit });
  }

  /** Somebody followed a link: where it leads, once the hit is kept; undefined when there is no such link. */
  clicked(hit: Hit): Promise<string | undefined> {
    if (this.#waiting.length >= MAX_WAITING) return Promise.reject(new Error('Too many hits are waiting.'));
    return new Promise((resolve, reject) => this.#add({ hit, resolve, reject }));
  }

  /** Resolves when everything is kept that has come so far, or can't be. */
  async flushed(): Promise<void> {
    while (this.#storing !== undefined) await this.#storing;
  }

  #add(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.#storing ??= this.#storeAll().finally(() => (this.#storing = undefined));
  }

  #drop(): void {
    if (this.#dropped++ % 10_000 === 0)
      logger.warn({ dropped: this.#dropped }, 'opens come faster than they can be kept');
  }

  async #storeAll(): Promise<void> {
    // What the same turn of the event loop brings on other connections joins in.
    await new Promise(setImmediate);
    let failures = 0;
    while (this.#waiting.length > 0) {
      const set = this.#waiting.splice(0, MAX_SET);
      try {
        const urls = await store(set.map(({ hit }) => hit));
        set.forEach(({ resolve }, index) => resolve?.(urls.get(index + 1)));
        failures = 0;
        this.#onKept();
      } catch (error) {
        logger.error({ err: error }, 'hits could not be kept');
        for (const { reject } of set) reject?.(error);
        if (++failures > 3) continue; // opens are not worth holding on to for ever
        this.#waiting.unshift(...set.filter(({ resolve }) => resolve === undefined));
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
