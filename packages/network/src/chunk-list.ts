/** Chunks that are kept one by one before they are joined. */
const MAX_SEPARATE = 1_024;

/**
 * Collects what a client sends. A chunk costs more than a hundred bytes of memory besides its content, and clients decide how small
 * chunks are, so the small ones are joined on the way.
 */
export class ChunkList {
  readonly #joined: Buffer[] = [];
  #separate: Buffer[] = [];
  #length = 0;

  /** Bytes in total. */
  get length(): number {
    return this.#length;
  }

  push(chunk: Buffer): void {
    this.#length += chunk.length;
    if (this.#separate.push(chunk) < MAX_SEPARATE) return;
    this.#joined.push(Buffer.concat(this.#separate));
    this.#separate = [];
  }

  /** The content; not a copy if it was a single chunk. */
  concat(): Buffer {
    const chunks = [...this.#joined, ...this.#separate];
    return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, this.#length);
  }

  clear(): void {
    this.#joined.length = 0;
    this.#separate = [];
    this.#length = 0;
  }
}
