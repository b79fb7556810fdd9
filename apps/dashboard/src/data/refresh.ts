const readers = new Set<() => void>();

/** Calls `read` whenever what is shown may have changed; returns what ends it. */
export function onStale(read: () => void): () => void {
  readers.add(read);
  return () => readers.delete(read);
}

/** Has everything on the page read again: after a change, an event, or a connection that came back. */
export function refresh(): void {
  for (const read of readers) read();
}
