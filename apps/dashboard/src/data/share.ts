/**
 * Returns `next` with each part that equals its counterpart in `last` replaced by that counterpart. Components whose part
 * of a response has not changed then get the same object and need not render again. For JSON values.
 */
export function share<Value>(last: Value | undefined, next: Value): Value {
  return shared(last, next) as Value;
}

function shared(last: unknown, next: unknown): unknown {
  if (last === next || typeof last !== 'object' || typeof next !== 'object' || last === null || next === null)
    return next;
  if (Array.isArray(last) !== Array.isArray(next)) return next;
  const [before, after] = [last as Record<string, unknown>, next as Record<string, unknown>];
  const keys = Object.keys(after);
  const entries = keys.map((key) => [key, shared(before[key], after[key])] as const);
  const isSame = keys.length === Object.keys(before).length && entries.every(([key, value]) => value === before[key]);
  if (isSame) return last;
  return Array.isArray(next) ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}
