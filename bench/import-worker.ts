/** Runs imports for `bench/import.ts` in a separate process, so that its memory can be measured. */
import { beginImport, continueImport, type Progress } from '@postroom/imports';

/** The result of an import. */
export interface Imported {
  progress: Progress;
  ms: number;
  /** Peak memory of the process so far, in MB. */
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
