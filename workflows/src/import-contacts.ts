import type * as imports from '@postroom/imports/activities';
import { CancellationScope, isCancellation, setCurrentDetails } from '@temporalio/workflow';
import { activitiesOn } from './activities-on.ts';

const retry = { initialInterval: '1 second', maximumInterval: '30 seconds' } as const;
const heartbeating = { startToCloseTimeout: '6 hours', heartbeatTimeout: '10 seconds', retry } as const;

const { beginImport } = activitiesOn<typeof imports>('imports', { ...heartbeating, summary: 'Inspect the file' });
/** Its heartbeat reports progress. After a crash it resumes after the last batch recorded in the table. */
const { writeImport } = activitiesOn<typeof imports>('imports', { ...heartbeating, summary: 'Write the rows' });
const { endImport } = activitiesOn<typeof imports>('imports', {
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '1 day',
  retry,
  summary: 'Cancel',
});

/** How an import ended. */
export type ImportOutcome = imports.Progress['status'];

/**
 * Imports an uploaded file of contacts or suppressions until each row is written or reported. The file, its column mapping and its progress are
 * in Postgres; the history holds only counts.
 */
export async function importContacts(importId: string): Promise<ImportOutcome> {
  try {
    let progress = await beginImport(importId);
    setCurrentDetails(describe(progress));
    if (progress.status === 'running') progress = await writeImport(importId);
    setCurrentDetails(describe(progress));
    return progress.status;
  } catch (error) {
    if (isCancellation(error)) await CancellationScope.nonCancellable(() => endImport(importId));
    throw error;
  }
}

function describe({ status, rows, created, updated, unchanged, refused, error }: imports.Progress): string {
  if (error !== null) return `**${status}**: ${error}`;
  if (status === 'running') return 'The rows are being written; the heartbeat of the activity says how far.';
  return `**${status}**: ${rows} rows: ${created} created, ${updated} updated, ${unchanged} unchanged, ${refused} refused.`;
}
