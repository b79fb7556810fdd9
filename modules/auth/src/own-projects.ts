import { audit, checkLimit, db, DomainError, pool, type Prisma, sql, type Tx } from '@postroom/platform';
import { createProject, requestDeletion } from '@postroom/projects';
import { isDeleted } from '@postroom/projects/sql';

const MAX_OWN_PROJECTS = 200;

/**
 * Whether the user may create a project: they own one, or owned one until an owner deleted it. The others were invited to projects, and not
 * to start their own.
 */
export async function mayCreateProject(userId: string): Promise<boolean> {
  const [user] = await sql<{ may: boolean }>(
    pool,
    `SELECT owned_project OR EXISTS (
       SELECT FROM members m WHERE m.user_id = u.id AND m.role = 'owner' AND NOT ${isDeleted('m.project_id')}) AS may
     FROM users u WHERE id = $1`,
    [userId],
  );
  return user?.may === true;
}

/**
 * Creates a project that the user owns, and begins its audit log with that.
 * @throws DomainError `forbidden`, `validation_error` for an invalid name, or `conflict` if the user owns too many.
 */
export async function createOwnProject(userId: string, name: string): Promise<Prisma.ProjectModel> {
  if (!(await mayCreateProject(userId)))
    throw new DomainError('forbidden', 'Only an owner of a project may create another one.');
  return db.$transaction(async (tx) => {
    const project = await createProject(name, tx);
    await tx.member.create({ data: { projectId: project.id, userId, role: 'owner' } });
    const limit = { of: userId, rows: 'projects', max: MAX_OWN_PROJECTS, whose: 'A user' };
    await checkLimit(tx, limit, () => tx.member.count({ where: { userId, role: 'owner' } }));
    const { id: projectId, name: targetName } = project;
    await audit(tx, { projectId, actorId: userId, action: 'createProject', targetId: projectId, targetName });
    return project;
  });
}

/** Begins to delete a project for one of its owners. All of them may still create projects. @throws DomainError like `requestDeletion`. */
export async function deleteOwnProject(projectId: string, name: string, actorId: string): Promise<void> {
  await requestDeletion(projectId, name, actorId, (tx) => rememberOwners(tx, projectId));
}

/** In the order of their ids, so that two deletions never wait for each other. */
async function rememberOwners(tx: Tx, projectId: string): Promise<void> {
  await sql(
    tx,
    `UPDATE users SET owned_project = true WHERE id IN (
       SELECT u.id FROM users u JOIN members m ON m.user_id = u.id
       WHERE m.project_id = $1 AND m.role = 'owner' AND NOT u.owned_project ORDER BY u.id FOR UPDATE OF u)`,
    [projectId],
  );
}
