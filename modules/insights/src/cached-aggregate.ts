/** What was counted from fewer rows is counted anew each time it is asked for. */
const MANY_ROWS = 20_000;
/** What was counted from many is shown for a millisecond for so many of them, and not longer than five minutes. */
const ROWS_A_MILLISECOND = 10;
const LONGEST_MS = 300_000;
/** How many answers are kept; past it, the oldest goes. */
const MAX_ENTRIES = 1_000;

/** Figures, and how many rows had to be read for them. */
export interface Aggregate<Result> {
  result: Result;
  rows: number;
}

/**
 * Figures that are counted from rows, by what they are about. A page that is read again at each event would count a million rows
 * each time: such figures are counted once, by whoever asks first, and shown to all who ask in the next minutes.
 */
export function cachedAggregate<Result>(): (key: string, count: () => Promise<Aggregate<Result>>) => Promise<Result> {
  const known = new Map<string, { figures: Promise<Aggregate<Result>>; until: number }>();

  const keep = (key: string, figures: Promise<Aggregate<Result>>, until: number) => {
    known.delete(key);
    const [oldest] = known.keys();
    if (known.size >= MAX_ENTRIES && oldest !== undefined) known.delete(oldest);
    known.set(key, { figures, until });
  };

  return async (key, count) => {
    const before = known.get(key);
    if (before !== undefined && Date.now() < before.until) return (await before.figures).result;
    const counting = count();
    // There were many the last time: who asks meanwhile waits for this count.
    if (before !== undefined) keep(key, counting, Infinity);
    try {
      const { result, rows } = await counting;
      if (rows < MANY_ROWS) known.delete(key);
      else keep(key, counting, Date.now() + Math.min(rows / ROWS_A_MILLISECOND, LONGEST_MS));
      return result;
    } catch (error) {
      known.delete(key);
      throw error;
    }
  };
}
