import { pool, sql } from '@postroom/platform';
import { mailUser } from './managers.ts';

/** The owners to email about the deletion of a project: all of them, because not even its audit log will say who deleted it. */
export async function listDeletionMails(projectId: string): Promise<string[]> {
  const owners = await sql<{ user_id: string }>(
    pool,
    `SELECT user_id FROM members WHERE project_id = $1 AND role = 'owner' ORDER BY user_id`,
    [projectId],
  );
  return owners.map((owner) => owner.user_id);
}

/** The user who deleted the project `$1`; none if the operator did. */
const ACTOR = `
  SELECT u.name, u.email FROM audit_entries a JOIN users u ON u.id = a.actor_id
  WHERE a.project_id IS NULL AND a.action = 'projectDelete' AND a.target_id = $1 ORDER BY a.id DESC LIMIT 1`;

/** Emails an owner who deleted their project, and what that means. Does nothing once the project is gone. */
export async function sendDeletionMail(projectId: string, userId: string): Promise<void> {
  const [project] = await sql<{ name: string }>(pool, 'SELECT name FROM projects WHERE id = $1', [projectId]);
  if (project === undefined) return;
  const [actor] = await sql<{ name: string; email: string }>(pool, ACTOR, [projectId]);
  const by = actor === undefined ? 'The operator of this installation' : `${actor.name} (${actor.email})`;
  await mailUser(userId, {
    id: `${projectId}.${userId}.deleted`,
    subject: `${project.name} was deleted`,
    text: `${by} deleted the project ${project.name} on Postroom, with everything in it. Nothing more is sent, its API keys no longer work, and neither do links in mail that was sent.\n\nThere is no way back, other than a backup that the operator of this installation may have.\n\nYou get this email because you were an owner of the project.`,
  });
}
