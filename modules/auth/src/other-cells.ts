import { db, type Prisma } from '@postroom/platform';
import { askCell, otherCells } from '@postroom/projects/cells';

/** A project of a user, with their role in it. */
export type Membership = Prisma.MemberModel & { project: Prisma.ProjectModel };

/** The projects of a user in this cell, beginning with the one that they joined first. */
export const membershipsOf = (userId: string): Promise<Membership[]> =>
  db.member.findMany({ where: { userId }, include: { project: true }, orderBy: { createdAt: 'asc' } });

/**
 * The projects of a user in the other cells; one that does not answer hides only its own. A project that has just been moved may be in two
 * cells for a moment.
 */
export async function membershipsInOtherCells(userId: string): Promise<Membership[]> {
  const answers = await Promise.all(
    otherCells().map((cell) => askCell<Membership[]>(cell, `user/${userId}`).catch(() => [])),
  );
  return answers.flatMap((rows) => rows ?? []).map(withDates);
}

/** In JSON dates are text. */
const withDates = ({ project, ...membership }: Membership): Membership => ({
  ...membership,
  createdAt: new Date(membership.createdAt),
  project: { ...project, createdAt: new Date(project.createdAt) },
});
