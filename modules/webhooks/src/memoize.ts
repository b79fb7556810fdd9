/** Cache size. When it is full, the oldest entry is evicted. */
const MAX_ENTRIES = 1_000;

/** Caches the results of a pure function by its argument. */
export function memoize<T>(compute: (argument: string) => T): (argument: string) => T {
  const cache = new Map<string, T>();
  return (argument) => {
    const cached = cache.get(argument);
    if (cached !== undefined) return cached;
    const result = compute(argument);
    const [oldest] = cache.keys();
    if (cache.size >= MAX_ENTRIES && oldest !== undefined) cache.delete(oldest);
    cache.set(argument, result);
    return result;
  };
}
