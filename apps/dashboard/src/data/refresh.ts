const readers = new Set<() => void>();

/** Calls `read` whenever data may be stale; returns an unsubscribe function. */
export function onStale(read: () => void): () => void {
  readers.add(read);
  return () => readers.delete(read);
}

/** Refetches every query on the page, after a mutation, an event or a reconnect. */
export function refresh(): void {
  for (const read of readers) read();
}
