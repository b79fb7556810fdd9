import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How much is read at a time, in bytes. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Writes `text` to a temporary file as fast as it comes, and yields it as fast as the reader takes it: whatever `text` holds
 * on to, such as a database connection, does not wait for a slow reader. `produce` runs the writing, when there is room for it.
 */
export async function* spooled(
  text: AsyncIterable<string>,
  produce: (write: () => Promise<void>) => Promise<void>,
): AsyncGenerator<Buffer, void> {
  const file = await temporaryFile();
  let written = 0;
  let hasLeft = false;
  let end: { error?: unknown } | undefined;
  let wake = () => {};
  const write = async () => {
    for await (const part of text) {
      if (hasLeft) break;
      const bytes = Buffer.from(part);
      await file.write(bytes, 0, bytes.length, written);
      written += bytes.length;
      wake();
    }
  };
  const writing = produce(write)
    .then(
      () => (end = {}),
      (error: unknown) => (end = { error }),
    )
    .finally(() => wake());
  try {
    for (let read = 0; ;) {
      if (read < written) {
        const { buffer, bytesRead } = await file.read(
          Buffer.allocUnsafe(Math.min(CHUNK_BYTES, written - read)),
          0,
          undefined,
          read,
        );
        read += bytesRead;
        yield buffer.subarray(0, bytesRead);
      } else if (end !== undefined) {
        if ('error' in end) throw end.error;
        return;
      } else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    hasLeft = true;
    await writing;
    await file.close();
  }
}

/** It has no name any more, so it is gone when it is closed, however the program ends. */
async function temporaryFile(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'postroom-download-'));
  try {
    return await open(join(folder, 'file'), 'wx+', 0o600);
  } finally {
    await rm(folder, { recursive: true });
  }
}
