import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { config, db, FairShare, stopAfterRepeatedErrors } from '@postroom/platform';
import { withHeartbeat, withSlot } from '@postroom/temporal/activity';
import { beginImport as begin, continueImport, failImport, type Progress, stopImport } from './run.ts';

export type { Progress } from './run.ts';

/** Inspects the file and begins the import, or fails it if the file is unusable. */
export async function beginImport(importId: string): Promise<Progress> {
  return inProjectSlot(importId, () =>
    withHeartbeat(() =>
      stopAfterRepeatedErrors(
        `begin ${importId}`,
        () => begin(importId),
        (reason) => failImport(importId, reason),
      ),
    ),
  );
}

/** Writes the remaining rows and ends the import. */
export async function writeImport(importId: string): Promise<Progress> {
  return inProjectSlot(importId, () =>
    withHeartbeat((beat: (progress?: Progress) => void) =>
      stopAfterRepeatedErrors(
        `write ${importId}`,
        () => continueImport(importId, cancellationSignal(), beat),
        (reason) => failImport(importId, reason),
      ),
    ),
  );
}

/** Ends an import at an operator's request. */
export async function endImport(importId: string): Promise<void> {
  await stopImport(importId);
}

/** Each running import uses three connections, and parses its file on the thread that also sends mail. */
const slots = new FairShare(config.WORKER_IMPORT_SLOTS);
/** Delays before a waiting import tries again to get a slot, in milliseconds; the last one repeats. */
const SLOT_RETRY_MS = [500, 1_000, 2_000, 5_000, 10_000];

/** Runs an import, or throws to be retried while its project uses its share of the worker's slots. */
async function inProjectSlot<T>(importId: string, work: () => Promise<T>): Promise<T> {
  const row = await db.import.findUnique({ where: { id: importId }, select: { projectId: true } });
  const retryMs = SLOT_RETRY_MS[Math.min(activityInfo().attempt, SLOT_RETRY_MS.length) - 1] ?? 0;
  const busy = { message: 'Other imports are running; retrying shortly.', retryMs };
  return withSlot(slots.tryAcquire(row?.projectId ?? ''), busy, work);
}
