import { db, type Prisma } from '@postroom/platform';

/** A project of a user, with their role in it. */
export type Membership = Prisma.MemberModel & { project: Prisma.ProjectModel };

/** A person as the cell knows them that they sign in to. */
export type Person = Pick<Prisma.UserModel, 'id' | 'name' | 'email'>;

export interface OtherCells {
  names: () => readonly string[];
  /**
   * Asks a cell for something, such as `user/usr_…`; undefined if it has nothing of it. Dates are text.
   * @throws RetryLater if it does not answer.
   */
  ask: <Answer>(cell: string, what: string, person?: Person) => Promise<Answer | undefined>;
}

let cells: OtherCells = { names: () => [], ask: () => Promise.resolve(undefined) };

/** Says how to ask other cells; without it there are none. */
export function useOtherCells(others: OtherCells): void {
  cells = others;
}

/** The answer of the cell that has one. @throws RetryLater if one of them does not answer. */
export async function askOtherCells<Answer>(what: string, person?: Person): Promise<Answer | undefined> {
  const answers = await Promise.all(cells.names().map((cell) => cells.ask<Answer>(cell, what, person)));
  return answers.find((answer) => answer !== undefined);
}

/** The projects of a user in this cell, beginning with the one that they joined first. */
export const membershipsOf = (userId: string): Promise<Membership[]> =>
  db.member.findMany({ where: { userId }, include: { project: true }, orderBy: { createdAt: 'asc' } });

/**
 * The projects of a user in the other cells; one that does not answer hides only its own. A project that has just been moved may be in two
 * cells for a moment.
 */
export async function membershipsElsewhere(userId: string): Promise<Membership[]> {
  const answers = await Promise.all(
    cells.names().map((cell) => cells.ask<Membership[]>(cell, `user/${userId}`).catch(() => [])),
  );
  return answers.flatMap((rows) => rows ?? []).map(withDates);
}

const withDates = ({ project, ...membership }: Membership): Membership => ({
  ...membership,
  createdAt: new Date(membership.createdAt),
  project: { ...project, createdAt: new Date(project.createdAt) },
});
