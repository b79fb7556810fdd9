import { dropExpiredFiles } from './kept-files.ts';

/** Deletes the files of dry runs that were not executed in time. @returns the number of files. */
export async function deleteOld({ onBatch }: { onBatch: () => void }): Promise<Record<string, number>> {
  let files = 0;
  for (;;) {
    const dropped = await dropExpiredFiles();
    if (dropped === 0) return { importFiles: files };
    files += dropped;
    onBatch();
  }
}
