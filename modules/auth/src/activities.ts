import { db } from '@postroom/platform';
import { sendSystemMail } from './system-mail.ts';

/** The ids of a project's owners, earliest first. */
export async function listOwners(projectId: string): Promise<string[]> {
  const owners = await db.member.findMany({
    where: { projectId, role: 'owner' },
    orderBy: [{ createdAt: 'asc' }, { userId: 'asc' }],
  });
  return owners.map(({ userId }) => userId);
}

/** Mails a user at their current address. Does nothing if the account was deleted. */
export async function mailPerson(userId: string, mail: { subject: string; text: string }): Promise<void> {
  const user = await db.user.findUnique({ where: { id: userId } });
  if (user !== null) await sendSystemMail({ to: user.email, ...mail });
}
