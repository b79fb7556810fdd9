/**
 * A DataLoader: batches the keys requested in one tick into one call of `loadMany`, so a field of every row in a
 * list costs one read. Batches are separate per `context`, which is one request.
 */
export function batchLoader<Context extends object, Value>(
  loadMany: (context: Context, keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
): (context: Context, key: string) => Promise<Value | undefined> {
  const waiting = new WeakMap<Context, { keys: Set<string>; values: Promise<ReadonlyMap<string, Value>> }>();
  return async (context, key) => {
    let batch = waiting.get(context);
    if (batch === undefined) {
      const keys = new Set<string>();
      const values = Promise.resolve().then(() => {
        waiting.delete(context);
        return loadMany(context, [...keys]);
      });
      batch = { keys, values };
      waiting.set(context, batch);
    }
    batch.keys.add(key);
    return (await batch.values).get(key);
  };
}
