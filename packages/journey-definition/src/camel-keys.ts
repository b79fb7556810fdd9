const camelCase = (name: string) => name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());

/** `/v1` uses snake_case, also for the operators of conditions; names of properties and filters are left as they are. */
export function camelKeys(given: unknown, depth = 0): unknown {
  if (Array.isArray(given)) return given.map((each) => camelKeys(each, depth + 1));
  if (typeof given !== 'object' || given === null) return depth === 0 ? {} : given;
  const entries = Object.entries(given).map(([key, value]): [string, unknown] => {
    const name = camelCase(key);
    if (name === 'op' && typeof value === 'string') return [name, camelCase(value)];
    return [name, name === 'filter' ? value : camelKeys(value, depth + 1)];
  });
  return Object.fromEntries(entries);
}
