import { pool } from '@postroom/platform';

/** Bytes per row of `import_parts` when we split a file. */
const PART_BYTES = 1024 * 1024;

/** Splits chunks of any size into parts. */
export async function* splitIntoParts(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held: Uint8Array[] = [];
  let length = 0;
  for await (const piece of pieces) {
    held.push(piece);
    length += piece.length;
    if (length < PART_BYTES) continue;
    yield Buffer.concat(held, length);
    held = [];
    length = 0;
  }
  if (length > 0) yield Buffer.concat(held, length);
}

/** Thrown when an import's file is gone because the import has ended. */
export class FileGone extends Error {}

/** Reads the parts of a file in order; the next one is fetched while the current one is processed. */
export async function* readParts(importId: string, size: number): AsyncGenerator<Buffer> {
  let next: Promise<Buffer | undefined> | undefined;
  for (let [read, number] = [0, 0]; read < size; number++) {
    const data = await (next ?? fetchPart(importId, number));
    if (data === undefined) throw new FileGone(`Part ${number} of ${importId} is missing.`);
    read += data.length;
    next = read < size ? fetchPart(importId, number + 1) : undefined;
    next?.catch(() => {}); // A failed prefetch is reported by the next read; without one, it does not matter.
    yield data;
  }
}

async function fetchPart(importId: string, number: number): Promise<Buffer | undefined> {
  const { rows } = await pool.query<{ data: Buffer }>(
    'SELECT data FROM import_parts WHERE import_id = $1 AND number = $2',
    [importId, number],
  );
  return rows[0]?.data;
}

/** The text of a file in pieces. */
export async function* readTexts(importId: string, size: number, encoding: string): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding);
  for await (const part of readParts(importId, size)) yield decoder.decode(part, { stream: true });
  yield decoder.decode();
}
