import type * as notifications from '@postroom/notifications/activities';
import { activitiesOn } from './activities-on.ts';

const { listNotificationMails, sendNotificationMail } = activitiesOn<typeof notifications>('maintenance', {
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '1 day', // the dashboard shows it all the while
  retry: { initialInterval: '10 seconds', maximumInterval: '30 minutes' },
});

/** Emails a notification to its recipients. A failure for one of them does not affect the others. */
export async function mailNotification(notificationId: string): Promise<void> {
  const userIds = await listNotificationMails(notificationId);
  const results = await Promise.allSettled(userIds.map((userId) => sendNotificationMail(notificationId, userId)));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
