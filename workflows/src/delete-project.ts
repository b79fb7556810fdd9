import type * as auth from '@postroom/auth/activities';
import { ActivityFailure, isCancellation, patched } from '@temporalio/workflow';
import { activitiesOn } from './activities-on.ts';

const { deleteProjectData } = activitiesOn<{ deleteProjectData: (projectId: string) => Promise<void> }>('maintenance', {
  startToCloseTimeout: '1 day', // a table of a large project takes long
  heartbeatTimeout: '20 seconds',
  retry: { initialInterval: '2 seconds', maximumInterval: '30 seconds' },
  summary: 'Delete the rows, once nothing is in flight',
});

const { listDeletionMails, sendDeletionMail } = activitiesOn<typeof auth>('maintenance', {
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '5 minutes', // the list of owners is deleted after that
  retry: { initialInterval: '2 seconds', maximumInterval: '30 seconds' },
  summary: 'Email the owners',
});

/** Deletes a project that is marked as deleted. There is no way back, so it is retried until it is done. */
export async function deleteProject(projectId: string): Promise<void> {
  if (patched('deletion-mails')) await mailOwners(projectId);
  await deleteProjectData(projectId);
}

/** A mail server that is down delays the deletion only for a few minutes. */
async function mailOwners(projectId: string): Promise<void> {
  try {
    const userIds = await listDeletionMails(projectId);
    await Promise.allSettled(userIds.map((userId) => sendDeletionMail(projectId, userId)));
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
  }
}
