/** How many results are kept; past it, the oldest goes. */
const KEPT = 1_000;

/** A function that works its answer out once for each argument it has seen lately. */
export function memoize<T>(work: (argument: string) => T): (argument: string) => T {
  const known = new Map<string, T>();
  return (argument) => {
    const before = known.get(argument);
    if (before !== undefined) return before;
    const result = work(argument);
    const [oldest] = known.keys();
    if (known.size >= KEPT && oldest !== undefined) known.delete(oldest);
    known.set(argument, result);
    return result;
  };
}
