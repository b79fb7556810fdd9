import { db, sql, type Tx } from '@postroom/platform';
import { sendSystemMail } from './system-mail.ts';

/** The ids of a project's owners and admins, earliest first. */
export async function listManagers(tx: Tx, projectId: string): Promise<string[]> {
  const managers = await sql<{ user_id: string }>(
    tx,
    `SELECT user_id FROM members WHERE project_id = $1 AND role IN ('owner', 'admin') ORDER BY created_at, user_id`,
    [projectId],
  );
  return managers.map((manager) => manager.user_id);
}

/** Those of the users who are members of a project. */
export async function filterMembers(tx: Tx, projectId: string, userIds: readonly string[]): Promise<string[]> {
  if (userIds.length === 0) return [];
  const members = await sql<{ user_id: string }>(
    tx,
    'SELECT user_id FROM members WHERE project_id = $1 AND user_id = ANY ($2)',
    [projectId, [...userIds]],
  );
  return members.map((member) => member.user_id);
}

/** Mails a user at their current address. Does nothing if the account was deleted. */
export async function mailUser(userId: string, mail: { subject: string; text: string; id: string }): Promise<void> {
  const user = await db.user.findUnique({ where: { id: userId } });
  if (user !== null) await sendSystemMail({ to: user.email, ...mail });
}
