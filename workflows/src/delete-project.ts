import { activitiesOn } from './activities-on.ts';

const { deleteProjectData } = activitiesOn<{ deleteProjectData: (projectId: string) => Promise<void> }>('maintenance', {
  startToCloseTimeout: '1 day', // a table of a large project takes long
  heartbeatTimeout: '20 seconds',
  retry: { initialInterval: '2 seconds', maximumInterval: '30 seconds' },
  summary: 'Delete the rows, once nothing is in flight',
});

/** Deletes a project that is marked as deleted. There is no way back, so it is retried until it is done. */
export async function deleteProject(projectId: string): Promise<void> {
  await deleteProjectData(projectId);
}
