import { listMailRecipients, mailOne } from './mail.ts';

/** The ids of the users to email about a notification. */
export const listNotificationMails = (notificationId: string): Promise<string[]> => listMailRecipients(notificationId);

/** Emails one user about a notification. */
export const sendNotificationMail = (notificationId: string, userId: string): Promise<void> =>
  mailOne(notificationId, userId);
