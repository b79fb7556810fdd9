import { cancellationSignal, heartbeat } from '@temporalio/activity';
import * as campaigns from '@postroom/campaigns/activities';
import * as domains from '@postroom/domains/activities';
import * as emails from '@postroom/emails/activities';
import { deleteOldRecipients } from '@postroom/campaigns';
import { deleteOldInboxMails } from '@postroom/emails/inbox';
import { deleteOldContents, deleteOldEmails } from '@postroom/ledger';
import * as imports from '@postroom/imports/activities';
import { deleteOldSignInRates } from '@postroom/auth';
import * as people from '@postroom/auth/activities';
import { deleteOldAuditEntries } from '@postroom/platform';
import { disabledNotice } from '@postroom/webhooks';
import * as webhooks from '@postroom/webhooks/activities';
import type { OwnerNotices } from '@postroom/workflows';

/** Notifies one owner by mail that an endpoint was disabled. Webhooks writes the message; auth delivers it. */
export async function tellOfDisabledEndpoint(userId: string, endpointId: string): Promise<void> {
  const notice = await disabledNotice(endpointId);
  if (notice !== undefined) await people.mailPerson(userId, notice);
}

/** Retention deletes, from the modules that have them. */
export async function deleteOldRows(): Promise<
  webhooks.Deleted &
    Record<'contents' | 'emails' | 'recipients' | 'inboxMails' | 'auditEntries' | 'signInRates', number>
> {
  const deleted = await webhooks.deleteOldRows();
  const onBatch = () => {
    heartbeat();
    cancellationSignal().throwIfAborted();
  };
  return {
    ...deleted,
    contents: await deleteOldContents({ onBatch }),
    emails: await deleteOldEmails({ onBatch }),
    recipients: await deleteOldRecipients({ onBatch }),
    inboxMails: await deleteOldInboxMails(onBatch),
    auditEntries: await deleteOldAuditEntries({ onBatch }),
    signInRates: await deleteOldSignInRates(),
  };
}

/** Every activity, by its exported name. */
export const activities = {
  ...campaigns,
  ...domains,
  ...emails,
  ...imports,
  ...webhooks,
  deleteOldRows,
  listOwners: people.listOwners,
  tellOfDisabledEndpoint: tellOfDisabledEndpoint satisfies OwnerNotices['tellOfDisabledEndpoint'],
};
