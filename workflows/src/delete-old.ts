import type * as webhooks from '@postroom/webhooks/activities';
import { setCurrentDetails } from '@temporalio/workflow';
import { activitiesOn } from './activities-on.ts';

/** Number of deleted rows by kind. The optional ones are absent from histories recorded before their module existed. */
interface Deleted extends webhooks.Deleted {
  contents?: number;
  emails?: number;
  recipients?: number;
  inboxMails?: number;
  auditEntries?: number;
}

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
  const { deliveries, events, idempotencyKeys, givenUp, contents = 0, inboxMails = 0, auditEntries = 0 } = deleted;
  const { emails = 0, recipients = 0 } = deleted;
  setCurrentDetails(
    `${deliveries} deliveries, ${events} events, ${idempotencyKeys} idempotency keys, the content of ${contents} emails, ${emails} emails, ${recipients} recipients of campaigns, ${inboxMails} mails of the inbox and ${auditEntries} lines of the audit log deleted; ${givenUp} deliveries to disabled endpoints given up.`,
  );
  return deleted;
}
