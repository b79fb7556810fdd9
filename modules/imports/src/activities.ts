import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { beginImport as begin, continueImport, type Progress, stopImport } from './run.ts';

export type { Progress } from './run.ts';

/** How often a sign of life is given at least, in milliseconds. */
const BEAT_EVERY_MS = 2_000;

/** Looks at the file and begins the import, or ends one whose file can't be used. */
export async function beginImport(importId: string): Promise<Progress> {
  return beating(() => begin(importId));
}

/** Writes what is not written yet, and ends the import. */
export async function writeImport(importId: string): Promise<Progress> {
  return beating((beat) => continueImport(importId, cancellationSignal(), beat));
}

/** Ends an import at the word of an operator. */
export async function endImport(importId: string): Promise<void> {
  await stopImport(importId);
}

async function beating<T>(work: (beat: (progress: Progress) => void) => Promise<T>): Promise<T> {
  let last: Progress | undefined;
  const beat = (progress = last) => {
    last = progress;
    heartbeat(progress);
  };
  const timer = setInterval(beat, BEAT_EVERY_MS);
  try {
    return await work(beat);
  } finally {
    clearInterval(timer);
  }
}
