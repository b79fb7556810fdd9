import { audit, checkLimit, db, DomainError, type Prisma } from '@postroom/platform';
import { createProject } from '@postroom/projects';

const MAX_OWN_PROJECTS = 200;

/**
 * Creates a project that the user owns, and begins its audit log with that. Users who own none may not: they were invited to others' projects.
 * @throws DomainError `forbidden`, `validation_error` for an invalid name, or `conflict` if the user owns too many.
 */
export async function createOwnProject(userId: string, name: string): Promise<Prisma.ProjectModel> {
  if ((await db.member.count({ where: { userId, role: 'owner' } })) === 0)
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
