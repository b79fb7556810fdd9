/**
 * A loader that gathers the keys asked for together and reads them at once. GraphQL asks for a field of every row of a
 * list in one go, so a list costs one read of `loadMany`. Batches are kept apart by `context`, which is one request.
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
