import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** Aggregates over fewer rows than this are not cached. */
const MIN_CACHED_ROWS = 20_000;
/** An aggregate is cached for 1 ms per this many rows, up to `MAX_TTL_MS`. */
const ROWS_PER_MS = 10;
const MAX_TTL_MS = 300_000;
/** Cache capacity; the least recently used entry is evicted. */
const MAX_ENTRIES = 1_000;

/** A result, and the number of rows it was computed from. */
export interface Aggregate<Result> {
  result: Result;
  rows: number;
}

/**
 * Creates a cache of expensive aggregates by key. A page that reloads on every event would otherwise count a million rows each
 * time. The first caller computes the aggregate; concurrent and later callers share it until it expires.
 */
export function cachedAggregate<Result>(): (key: string, count: () => Promise<Aggregate<Result>>) => Promise<Result> {
  const cache = new LRUCache<string, { aggregate: Promise<Aggregate<Result>>; expiresAt: number }>({
    max: MAX_ENTRIES,
  });

  return async (of, count) => {
    // Keys may contain filters of any size, and the cache keeps a thousand.
    const key = createHash('sha256').update(of).digest('base64');
    const cached = cache.get(key);
    if (cached !== undefined && performance.now() < cached.expiresAt) return (await cached.aggregate).result;
    const counting = count();
    // An expired entry means the aggregate is expensive, so concurrent callers wait for this count.
    if (cached !== undefined) cache.set(key, { aggregate: counting, expiresAt: Infinity });
    try {
      const { result, rows } = await counting;
      if (rows < MIN_CACHED_ROWS) cache.delete(key);
      else
        cache.set(key, {
          aggregate: counting,
          expiresAt: performance.now() + Math.min(rows / ROWS_PER_MS, MAX_TTL_MS),
        });
      return result;
    } catch (error) {
      cache.delete(key);
      throw error;
    }
  };
}
