import { activityInfo, cancellationSignal, getClient } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { FairShare, logger } from '@postroom/platform';
import { withHeartbeat, withSlot } from '@postroom/temporal/activity';
import { connectHere } from './connect.ts';
import { deleteProject, DeletionRefused } from './delete.ts';
import { endWorkflowsOf } from './end-workflows.ts';

/** Each deletion takes a connection and makes the database write a lot, so a worker runs one at a time. */
const slots = new FairShare(1);
/** Work in flight ends within seconds. A deletion that waits for it longer gives up its slot, in milliseconds. */
const DRAIN_MS = 10_000;
const RETRY_MS = 5_000;

/** Deletes the rows of a project and ends its workflows. What an attempt that was killed has done stays done. */
export async function deleteProjectData(projectId: string): Promise<void> {
  const busy = { message: 'Another project is being deleted; retrying shortly.', retryMs: RETRY_MS };
  await withSlot(slots.tryAcquire(projectId), busy, () => withHeartbeat(() => deleteRows(projectId)));
  const ended = await endWorkflowsOf(getClient(), projectId, 'The project was deleted.');
  logger.info({ projectId, ended, attempt: activityInfo().attempt }, 'a project is deleted');
}

async function deleteRows(projectId: string): Promise<void> {
  const client = await connectHere();
  // When the worker stops, the transaction under way is rolled back, and the next attempt repeats it.
  const disconnect = () => void client.end().catch(() => {});
  cancellationSignal().addEventListener('abort', disconnect);
  try {
    cancellationSignal().throwIfAborted();
    const report = (step: string) => logger.info({ projectId, step }, 'deleting a project');
    await deleteProject({ client, projectId, drainMs: DRAIN_MS, report });
  } catch (error) {
    if (!(error instanceof DeletionRefused)) throw error;
    throw ApplicationFailure.create({ message: error.message, type: 'DeletionRefused', nextRetryDelay: RETRY_MS });
  } finally {
    cancellationSignal().removeEventListener('abort', disconnect);
    await client.end().catch(() => {});
  }
}
