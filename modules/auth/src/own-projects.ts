import { db, DomainError, type Prisma } from '@postroom/platform';
import { createProject } from '@postroom/projects';

/**
 * Creates a project that the user owns. Users who own none may not: they were invited to others' projects.
 * @throws DomainError `forbidden`, or `validation_error` for an invalid name.
 */
export async function createOwnProject(userId: string, name: string): Promise<Prisma.ProjectModel> {
  if ((await db.member.count({ where: { userId, role: 'owner' } })) === 0)
    throw new DomainError('forbidden', 'Only an owner of a project may create another one.');
  return db.$transaction(async (tx) => {
    const project = await createProject(name, tx);
    await tx.member.create({ data: { projectId: project.id, userId, role: 'owner' } });
    return project;
  });
}
