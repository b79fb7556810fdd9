import { setCurrentDetails } from '@temporalio/workflow';
import { activitiesOn } from './activities-on.ts';

/** Number of deleted rows by kind. Which kinds there are depends on the modules. */
type Deleted = Record<string, number>;

const { deleteOldRows } = activitiesOn<{ deleteOldRows: () => Promise<Deleted> }>('maintenance', {
  startToCloseTimeout: '50 minutes', // the next hourly run resumes where this one stopped
  scheduleToCloseTimeout: '55 minutes', // covers repeated failures
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '10 seconds', maximumInterval: '5 minutes' },
  summary: 'Delete in batches',
});

/** Deletes rows past their retention period. A schedule runs it every hour. */
export async function deleteOld(): Promise<Deleted> {
  const deleted = await deleteOldRows();
  setCurrentDetails(
    Object.entries(deleted)
      .map(([kind, count]) => `- ${kind.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}: ${count}`)
      .join('\n'),
  );
  return deleted;
}
