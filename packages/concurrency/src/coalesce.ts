/** Maximum items per batch. */
const MAX_BATCH = 500;

interface Call<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Coalesces concurrent calls: items requested while `doMany` is running are processed together in the next call, as
 * one statement and, for writes, one commit. An idle coalescer starts in the same tick. Nothing is cached: every
 * read starts after it was requested.
 * `doMany` returns results in the order of its items, and is all or nothing. If it fails, every item fails, unless
 * the database rejected a value: then each item is retried individually, so that one caller's bad value does not
 * fail the others.
 */
export function coalesce<Item, Result>(
  doMany: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  const waiting: Call<Item, Result>[] = [];
  let isBusy = false;

  async function work(): Promise<void> {
    isBusy = true;
    while (waiting.length > 0) {
      // Waits for the end of the tick, so that all of its reads share one statement.
      await new Promise((resolve) => setImmediate(resolve));
      const calls = waiting.splice(0, MAX_BATCH);
      try {
        const results = await doMany(calls.map(({ item }) => item));
        for (const [index, { resolve }] of calls.entries()) resolve(results[index] as Result);
      } catch (error) {
        if (calls.length > 1 && isBadValue(error)) await Promise.all(calls.map(doAlone));
        else for (const { reject } of calls) reject(error);
      }
    }
    isBusy = false;
  }

  async function doAlone({ item, resolve, reject }: Call<Item, Result>): Promise<void> {
    try {
      const [result] = await doMany([item]);
      resolve(result as Result);
    } catch (error) {
      reject(error);
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isBusy) void work();
    });
}

/**
 * Like `coalesce`, for writes, but only within one project. A write may wait for a lock held by another transaction
 * of its project, such as an import, and everything in its batch waits with it.
 */
export function coalesceByProject<Item, Result>(
  projectOf: (item: Item) => string,
  doMany: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  const lines = new Map<string, { call: (item: Item) => Promise<Result>; pending: number }>();
  return async (item) => {
    const projectId = projectOf(item);
    const line = lines.get(projectId) ?? { call: coalesce(doMany), pending: 0 };
    lines.set(projectId, line);
    line.pending++;
    try {
      return await line.call(item);
    } finally {
      if (--line.pending === 0) lines.delete(projectId);
    }
  };
}

/** Whether PostgreSQL rejected a value (SQLSTATE class 22), which rolled the statement back. */
function isBadValue(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('22');
}

/** Like `coalesce`, for reads by key. Each key is read once; missing keys yield `undefined`. */
export function coalesceReads<Value>(
  readMany: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
): (key: string) => Promise<Value | undefined> {
  return coalesce<string, Value | undefined>(async (keys) => {
    const values = await readMany([...new Set(keys)]);
    return keys.map((key) => values.get(key));
  });
}
