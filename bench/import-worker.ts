/** Runs imports for `bench/import.ts`, in a process of its own, whose memory is its own. */
import { beginImport, continueImport, type Progress } from '@postroom/imports';

/** How an import went. */
export interface Imported {
  progress: Progress;
  ms: number;
  /** The most that the process had in memory so far, in MB. */
  memory: number;
}

process.on('message', (id: string) => {
  const started = performance.now();
  beginImport(id)
    .then(() => continueImport(id, new AbortController().signal))
    .then((progress) => {
      const imported: Imported = {
        progress,
        ms: performance.now() - started,
        memory: Math.round(process.resourceUsage().maxRSS / 1024),
      };
      process.send?.(imported);
    }, fail);
});
process.send?.({ ready: true });

function fail(error: unknown): void {
  console.error(error);
  process.exit(1);
}
