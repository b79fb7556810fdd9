import type * as bulk from '@postroom/bulk/activities';
import { CancellationScope, isCancellation, setCurrentDetails } from '@temporalio/workflow';
import { activitiesOn } from './activities-on.ts';

const retry = { initialInterval: '1 second', maximumInterval: '30 seconds' } as const;

/** Its heartbeat reports progress. After a crash it resumes after the last batch recorded in the table. */
const { continueBulkOperation } = activitiesOn<typeof bulk>('imports', {
  startToCloseTimeout: '6 hours',
  heartbeatTimeout: '10 seconds',
  retry,
  summary: 'Process the contacts',
});
const { endBulkOperation } = activitiesOn<typeof bulk>('imports', {
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '1 day',
  retry,
  summary: 'Cancel',
});

/** Carries out an action on many contacts. The filter and the progress are in Postgres; the history holds only counts. */
export async function runBulkOperation(id: string): Promise<bulk.BulkProgress['status']> {
  try {
    const { status, processed, total } = await continueBulkOperation(id);
    setCurrentDetails(`**${status}**: ${processed} of ${total} contacts.`);
    return status;
  } catch (error) {
    if (isCancellation(error)) await CancellationScope.nonCancellable(() => endBulkOperation(id));
    throw error;
  }
}
