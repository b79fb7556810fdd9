import { filterMembers, listManagers, mailUser } from '@postroom/auth/managers';
import { config, databaseTime, db, pool } from '@postroom/platform';
import type { Notification } from './notify.ts';

/**
 * The users to email about a notification: its recipients who have not been emailed, may still get it, have not
 * read it yet, and have not turned these emails off. No email will go to the others.
 */
export async function listMailRecipients(notificationId: string): Promise<string[]> {
  const userIds = await usersToMail(notificationId);
  await db.notificationRecipient.updateMany({
    where: { notificationId, mailClosedAt: null, userId: { notIn: userIds } },
    data: { mailClosedAt: databaseTime() },
  });
  return userIds;
}

async function usersToMail(notificationId: string): Promise<string[]> {
  const recipients = await db.notificationRecipient.findMany({
    where: { notificationId, readAt: null, mailClosedAt: null },
    include: { notification: { select: { kind: true } } },
  });
  const [first] = recipients;
  if (first === undefined) return [];
  const settings = await db.notificationSettings.findMany({
    where: { emails: false, userId: { in: recipients.map(({ userId }) => userId) } },
  });
  const without = new Set(settings.map(({ userId }) => userId));
  const unread = new Set(recipients.map(({ userId }) => userId));
  // A step may notify any members; what happens by itself concerns owners and admins.
  const allowed =
    first.notification.kind === 'journey_step'
      ? await filterMembers(pool, first.projectId, [...unread])
      : await listManagers(pool, first.projectId);
  return allowed.filter((userId) => unread.has(userId) && !without.has(userId));
}

/** Emails one user about a notification, once. Does nothing if the notification or the account is gone. */
export async function mailOne(notificationId: string, userId: string): Promise<void> {
  const recipient = await db.notificationRecipient.findUnique({
    where: { notificationId_userId: { notificationId, userId } },
    include: { notification: true },
  });
  if (recipient === null || recipient.mailClosedAt !== null) return;
  const { notification } = recipient;
  const { projectId, subjectId, title, detail, advice, createdAt } = notification;
  const { name } = await db.project.findUniqueOrThrow({ where: { id: projectId } });
  const text = [
    `Project: ${name}`,
    '',
    detail,
    '',
    advice,
    '',
    `${config.PUBLIC_URL}/p/${projectId}/${pageOf(notification)}/${subjectId}`,
    '',
    `This happened on ${TIME.format(createdAt)}. You can turn these emails off on your account page:`,
    `${config.PUBLIC_URL}/p/${projectId}/account`,
    '',
  ];
  // The id is the same for each attempt, so that a repeated email can be recognized.
  await mailUser(userId, { subject: title, text: text.join('\n'), id: `${notificationId}.${userId}` });
  await db.notificationRecipient.updateMany({
    where: { notificationId, userId },
    data: { mailClosedAt: databaseTime() },
  });
}

/** The dashboard's page about the subject of a notification. */
const pageOf = ({ kind }: Notification) => PAGES[kind];

const PAGES: Record<Notification['kind'], string> = {
  campaign_paused: 'campaigns',
  sender_blocked: 'campaigns',
  endpoint_disabled: 'webhooks',
  journey_paused: 'journeys',
  journey_step: 'journeys',
};

const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'long', timeZone: 'UTC' });
