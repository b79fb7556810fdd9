import { cancellationSignal } from '@temporalio/activity';
import { stopAfterRepeatedErrors } from '@postroom/platform';
import { withHeartbeat } from '@postroom/temporal/activity';
import { continueOperation, type Progress } from './batches.ts';
import { endOperation } from './operations.ts';

export type { Progress as BulkProgress } from './batches.ts';

/** Processes the remaining contacts of a bulk operation and ends it. */
export async function continueBulkOperation(id: string): Promise<Progress> {
  return withHeartbeat((beat: (progress?: Progress) => void) =>
    stopAfterRepeatedErrors(
      `bulk ${id}`,
      () => continueOperation(id, cancellationSignal(), beat),
      async (reason) => {
        await endOperation(id, 'failed', `The operation could not continue: ${reason}`.slice(0, 500));
        return { status: 'failed', processed: 0, total: 0 };
      },
    ),
  );
}

/** Ends a bulk operation at an operator's request. */
export async function endBulkOperation(id: string): Promise<void> {
  await endOperation(id, 'canceled');
}
