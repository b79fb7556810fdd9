import DataLoader from 'dataloader';

/**
 * Batches the keys requested in one tick into one call of `loadMany`, so a field of every row in a list costs one
 * read. Batches are separate per `context`, which is one request. Nothing is cached, because a mutation may change
 * what later fields read.
 */
export function batchLoader<Context extends object, Value>(
  loadMany: (context: Context, keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
): (context: Context, key: string) => Promise<Value | undefined> {
  const loaders = new WeakMap<Context, DataLoader<string, Value | undefined>>();
  const createLoader = (context: Context) => {
    const loader = new DataLoader<string, Value | undefined>(
      async (keys) => {
        const values = await loadMany(context, [...new Set(keys)]);
        return keys.map((key) => values.get(key));
      },
      { cache: false },
    );
    loaders.set(context, loader);
    return loader;
  };
  return (context, key) => (loaders.get(context) ?? createLoader(context)).load(key);
}

/** A `batchLoader` for each value of an argument, which must have few, such as a number up to a hundred. */
export function batchLoaders<Argument, Context extends object, Value>(
  loadMany: (argument: Argument, context: Context, keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
): (argument: Argument) => (context: Context, key: string) => Promise<Value | undefined> {
  const loaders = new Map<Argument, (context: Context, key: string) => Promise<Value | undefined>>();
  return (argument) => {
    const loader = loaders.get(argument) ?? batchLoader((context: Context, keys) => loadMany(argument, context, keys));
    loaders.set(argument, loader);
    return loader;
  };
}
