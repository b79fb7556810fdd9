import type * as contacts from '@postroom/contacts/activities';
import { activitiesOn } from './activities-on.ts';

const activities = activitiesOn<typeof contacts>('maintenance', {
  startToCloseTimeout: '50 minutes', // the next hourly run continues where this one stopped
  scheduleToCloseTimeout: '55 minutes',
  heartbeatTimeout: '5 minutes',
  retry: { initialInterval: '10 seconds', maximumInterval: '5 minutes' },
  summary: 'Count the contacts of segments',
});

/** Records today's size of each segment that has none yet. A schedule runs it every hour. */
export async function recordSegmentSizes(): Promise<number> {
  return activities.recordSegmentSizes();
}
