import type * as auth from '@postroom/auth/activities';
import { activitiesOn } from './activities-on.ts';

/** Composed by the worker: webhooks writes the message and auth delivers it. */
export interface OwnerNotices {
  /** Mails one user that an endpoint was disabled. */
  tellOfDisabledEndpoint: (userId: string, endpointId: string) => Promise<void>;
}

const { listOwners, tellOfDisabledEndpoint } = activitiesOn<typeof auth & OwnerNotices>('maintenance', {
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '1 day', // a mail server outage longer than this is noticed without the notification
  retry: { initialInterval: '10 seconds', maximumInterval: '30 minutes' },
});

/** Notifies each owner of a project that an endpoint was disabled. A failure for one owner does not affect the others. */
export async function tellOwners(projectId: string, endpointId: string): Promise<void> {
  const owners = await listOwners(projectId);
  const results = await Promise.allSettled(owners.map((userId) => tellOfDisabledEndpoint(userId, endpointId)));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
