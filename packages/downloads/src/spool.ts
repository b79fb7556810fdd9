import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Buffer size for reading, in bytes. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Spools `text` to a temporary file at full speed and yields it at the reader's speed, so that a slow reader does not
 * hold resources such as a database connection. `produce` runs the writing when there is capacity.
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

/** The file is unlinked while open, so it disappears when it is closed, however the process ends. */
async function temporaryFile(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'postroom-download-'));
  try {
    return await open(join(folder, 'file'), 'wx+', 0o600);
  } finally {
    await rm(folder, { recursive: true });
  }
}
