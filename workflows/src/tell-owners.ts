import type * as people from '@postroom/auth/activities';
import type * as worker from '@postroom/worker/activities';
import { proxyActivities } from '@temporalio/workflow';

const { listOwners, tellOfDisabledEndpoint } = proxyActivities<typeof people & typeof worker>({
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '1 day', // a mail server that is down for longer has told them something too
  retry: { initialInterval: '10 seconds', maximumInterval: '30 minutes' },
});

/** Tells each owner of a project that an endpoint was disabled; one whom the mail server refuses keeps it from nobody else. */
export async function tellOwners(projectId: string, endpointId: string): Promise<void> {
  const owners = await listOwners(projectId);
  const told = await Promise.allSettled(owners.map((userId) => tellOfDisabledEndpoint(userId, endpointId)));
  const refused = told.find((result) => result.status === 'rejected');
  if (refused !== undefined) throw refused.reason;
}
