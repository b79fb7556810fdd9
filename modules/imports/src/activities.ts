import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { config, db, FairShare, stopAfterRepeatedErrors } from '@postroom/platform';
import { beginImport as begin, continueImport, failImport, type Progress, stopImport } from './run.ts';

export type { Progress } from './run.ts';

/** How often a sign of life is given at least, in milliseconds. */
const BEAT_EVERY_MS = 2_000;

/** Looks at the file and begins the import, or ends one whose file can't be used. */
export async function beginImport(importId: string): Promise<Progress> {
  return inTurn(importId, () =>
    beating(() =>
      stopAfterRepeatedErrors(
        `begin ${importId}`,
        () => begin(importId),
        (reason) => failImport(importId, reason),
      ),
    ),
  );
}

/** Writes what is not written yet, and ends the import. */
export async function writeImport(importId: string): Promise<Progress> {
  return inTurn(importId, () =>
    beating((beat) =>
      stopAfterRepeatedErrors(
        `write ${importId}`,
        () => continueImport(importId, cancellationSignal(), beat),
        (reason) => failImport(importId, reason),
      ),
    ),
  );
}

/** Ends an import at the word of an operator. */
export async function endImport(importId: string): Promise<void> {
  await stopImport(importId);
}

/** Each import that runs takes three connections, and reads a file on the thread that sends mail as well. */
const slots = new FairShare(config.WORKER_IMPORT_SLOTS);
/** An import that waits for those of its project looks again after so long, in milliseconds; the last one is repeated. */
const LOOK_AGAIN_MS = [500, 1_000, 2_000, 5_000, 10_000];

/** Runs an import, or comes back later while its project has its share of the worker's slots. */
async function inTurn<T>(importId: string, work: () => Promise<T>): Promise<T> {
  const row = await db.import.findUnique({ where: { id: importId }, select: { projectId: true } });
  const release = slots.tryAcquire(row?.projectId ?? '');
  if (release === undefined) {
    throw ApplicationFailure.create({
      message: 'Other imports are running; retrying shortly.',
      type: 'Busy',
      category: ApplicationFailureCategory.BENIGN,
      nextRetryDelay: LOOK_AGAIN_MS[Math.min(activityInfo().attempt, LOOK_AGAIN_MS.length) - 1] ?? 0,
    });
  }
  try {
    return await work();
  } finally {
    release();
  }
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
