/** Items that are done together at most. */
const MAX_BATCH = 500;

interface Call<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Gathers what is asked for while `doMany` is at work on others, and does it together when that ends: one statement, and for writes
 * one commit, instead of many. Alone, an item is done in the same turn of the event loop. Nothing is cached: what is asked
 * for now begins after now.
 * `doMany` answers in the order of its items and does all or none; when it fails, all of them fail, unless the database refused
 * a value: then each is done by itself, so that one caller's bad value is nobody else's error.
 */
export function coalesce<Item, Result>(
  doMany: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  const waiting: Call<Item, Result>[] = [];
  let isBusy = false;

  async function work(): Promise<void> {
    isBusy = true;
    while (waiting.length > 0) {
      // All that this turn of the event loop reads goes together: each statement saved is two system calls, here and there.
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
 * As `together`, for writes: only those of one project are done together. A write may wait for a lock that another transaction
 * of its project holds, such as an import, and what it is done together with waits as well.
 */
export function togetherByProject<Item, Result>(
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

/** Whether PostgreSQL refused a value of a statement (SQLSTATE class 22), which it then rolled back. */
function isBadValue(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('22');
}

/** As `together`, for reads by a key: each key is read once, and those that are not in the answer are `undefined`. */
export function coalesceReads<Value>(
  readMany: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
): (key: string) => Promise<Value | undefined> {
  return coalesce<string, Value | undefined>(async (keys) => {
    const values = await readMany([...new Set(keys)]);
    return keys.map((key) => values.get(key));
  });
}
