import { db } from '@postroom/platform';
import { sendSystemMail } from './system-mail.ts';

/** The ids of a project's owners, those who came first first. */
export async function listOwners(projectId: string): Promise<string[]> {
  const owners = await db.member.findMany({
    where: { projectId, role: 'owner' },
    orderBy: [{ createdAt: 'asc' }, { userId: 'asc' }],
  });
  return owners.map(({ userId }) => userId);
}

/** Mails a person, at the address they have now; nothing is sent to one whose account is gone. */
export async function mailPerson(userId: string, mail: { subject: string; text: string }): Promise<void> {
  const user = await db.user.findUnique({ where: { id: userId } });
  if (user !== null) await sendSystemMail({ to: user.email, ...mail });
}
