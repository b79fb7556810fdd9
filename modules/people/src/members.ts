import { db, DomainError, inTransaction, notFound, type Prisma, sql, type Tx } from '@postroom/platform';
import type { Role } from './person.ts';

type Member = Prisma.MemberModel & { user: { id: string; name: string; email: string } };

/** The people of a project, those who came first first. */
export async function listMembers(projectId: string): Promise<Member[]> {
  return db.member.findMany({
    where: { projectId },
    include: { user: { select: { id: true, name: true, email: true } } },
    orderBy: [{ createdAt: 'asc' }, { userId: 'asc' }],
  });
}

/**
 * Gives a member another role. Only owners make or unmake owners, and one always stays.
 * @throws DomainError `not_found`, `forbidden`, or `conflict` for the last owner.
 */
export async function changeRole(
  projectId: string,
  userId: string,
  role: Role,
  { asOwner }: { asOwner: boolean },
): Promise<void> {
  await inTransaction(async (tx) => {
    const member = await lockMembers(tx, projectId, userId);
    if (!asOwner && (role === 'owner' || member.role === 'owner')) throw onlyOwners();
    if (member.role === 'owner' && role !== 'owner' && member.owners === 1) throw lastOwner();
    await tx.query('UPDATE members SET role = $3::role WHERE project_id = $1 AND user_id = $2', [
      projectId,
      userId,
      role,
    ]);
  });
}

/** Takes a person out of a project; what they made stays. @throws DomainError as `changeRole`. */
export async function removeMember(
  projectId: string,
  userId: string,
  { asOwner }: { asOwner: boolean },
): Promise<void> {
  await inTransaction(async (tx) => {
    const member = await lockMembers(tx, projectId, userId);
    if (!asOwner && member.role === 'owner') throw onlyOwners();
    if (member.role === 'owner' && member.owners === 1) throw lastOwner();
    await tx.query('DELETE FROM members WHERE project_id = $1 AND user_id = $2', [projectId, userId]);
  });
}

/** Locks the project's members, so that of two owners who leave at once one stays. */
async function lockMembers(tx: Tx, projectId: string, userId: string): Promise<{ role: Role; owners: number }> {
  const rows = await sql<{ user_id: string; role: Role }>(
    tx,
    'SELECT user_id, role FROM members WHERE project_id = $1 ORDER BY user_id FOR UPDATE',
    [projectId],
  );
  const member = rows.find((row) => row.user_id === userId);
  if (member === undefined) throw notFound('member');
  return { role: member.role, owners: rows.filter((row) => row.role === 'owner').length };
}

const onlyOwners = () => new DomainError('forbidden', 'Only an owner may make or unmake owners.');
const lastOwner = () => new DomainError('conflict', 'A project keeps at least one owner.');
