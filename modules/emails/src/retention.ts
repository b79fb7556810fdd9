import { deleteOldInboxMails } from './inbox.ts';

/** The retention delete of this module. @returns the number of rows by kind. */
export async function deleteOld({ onBatch }: { onBatch: () => void }): Promise<Record<string, number>> {
  return { inboxMails: await deleteOldInboxMails(onBatch) };
}
