import { db, pool, type Prisma } from '@postroom/platform';
import { askCell, otherCells } from '@postroom/projects/cells';
import { isDeleted } from '@postroom/projects/sql';
import { profileHere } from './profiles.ts';

/** A project of a user, with their role in it. */
export type Membership = Prisma.MemberModel & { project: Prisma.ProjectModel };

/** The projects of a user in this cell, beginning with the one that they joined first. */
export async function membershipsOf(userId: string): Promise<Membership[]> {
  const projectId = { in: await projectIdsOf(userId) };
  return db.member.findMany({
    where: { userId, projectId },
    include: { project: true },
    orderBy: { createdAt: 'asc' },
  });
}

/** The projects of a user in this cell, without those that are being deleted. */
export async function projectIdsOf(userId: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT project_id AS id FROM members m WHERE user_id = $1 AND NOT ${isDeleted('m.project_id')}`,
    [userId],
  );
  return rows.map(({ id }) => id);
}

/**
 * The projects of a user in the other cells; one that does not answer hides only its own. A project that has just been moved may be in two
 * cells for a moment. The cells also learn the user's name and address, in case they missed a change.
 */
export async function membershipsInOtherCells(userId: string): Promise<Membership[]> {
  const cells = otherCells();
  if (cells.length === 0) return [];
  const person = await profileHere(userId);
  const answers = await Promise.all(
    cells.map((cell) => askCell<Membership[]>(cell, `user/${userId}`, person).catch(() => [])),
  );
  return answers.flatMap((rows) => rows ?? []).map(withDates);
}

/** In JSON dates are text. */
const withDates = ({ project, ...membership }: Membership): Membership => ({
  ...membership,
  createdAt: new Date(membership.createdAt),
  project: { ...project, createdAt: new Date(project.createdAt) },
});
