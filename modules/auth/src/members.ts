import { audit, db, DomainError, inTransaction, notFound, type Prisma, sql, type Tx } from '@postroom/platform';
import { endAccessOfKeysBy } from '@postroom/projects';
import { PERMISSIONS, type Role } from './caller.ts';

type Member = Prisma.MemberModel & { user: { id: string; name: string; email: string } };

/** The members of a project, earliest first. */
export async function listMembers(projectId: string): Promise<Member[]> {
  return db.member.findMany({
    where: { projectId },
    include: { user: { select: { id: true, name: true, email: true } } },
    orderBy: [{ createdAt: 'asc' }, { userId: 'asc' }],
  });
}

/**
 * Changes a member's role. Only owners grant or remove ownership, and one owner always remains. A member who may no
 * longer manage the project loses the keys they created for it and the invitations they sent.
 * @throws DomainError `not_found`, `forbidden`, or `conflict` for the last owner.
 */
export async function changeRole(
  projectId: string,
  userId: string,
  role: Role,
  { actorId }: { actorId: string },
): Promise<void> {
  await inTransaction(async (tx) => {
    const member = await lockMembers(tx, projectId, userId, actorId);
    if (!member.canManage) throw noLongerManages();
    if (!member.asOwner && (role === 'owner' || member.role === 'owner')) throw onlyOwners();
    if (member.role === 'owner' && role !== 'owner' && member.owners === 1) throw lastOwner();
    await tx.query('UPDATE members SET role = $3::role WHERE project_id = $1 AND user_id = $2', [
      projectId,
      userId,
      role,
    ]);
    await endAccessGrantedBy(tx, { projectId, userId, role, actorId });
  });
}

/**
 * Removes a member from a project. Revokes the keys they created for it and the invitations they sent or have not
 * accepted yet; everything else stays.
 * @throws DomainError like `changeRole`.
 */
export async function removeMember(projectId: string, userId: string, { actorId }: { actorId: string }): Promise<void> {
  await inTransaction(async (tx) => {
    const member = await lockMembers(tx, projectId, userId, actorId);
    // Every member may leave.
    if (userId !== actorId && !member.canManage) throw noLongerManages();
    if (!member.asOwner && member.role === 'owner') throw onlyOwners();
    if (member.role === 'owner' && member.owners === 1) throw lastOwner();
    await tx.query('DELETE FROM members WHERE project_id = $1 AND user_id = $2', [projectId, userId]);
    // With a pending one the user could come back.
    await tx.query(
      'DELETE FROM invitations WHERE project_id = $1 AND accepted_at IS NULL AND email = (SELECT email FROM users WHERE id = $2)',
      [projectId, userId],
    );
    await endAccessGrantedBy(tx, { projectId, userId, role: undefined, actorId });
  });
}

/** Revokes keys and invitations of a member that their new role could not have created. */
async function endAccessGrantedBy(
  tx: Tx,
  { projectId, userId, role, actorId }: { projectId: string; userId: string; role: Role | undefined; actorId: string },
): Promise<void> {
  const permissions = role === undefined ? [] : PERMISSIONS[role];
  if (permissions.includes('own')) return;
  const because = role === undefined ? 'removeMember' : 'changeRole';
  const note = (action: string, targetId: string) =>
    audit(tx, { projectId, actorId, action, targetId, details: { because, userId } });
  const isManager = permissions.includes('manage');
  const invitations = await sql<{ id: string }>(
    tx,
    `DELETE FROM invitations WHERE project_id = $1 AND invited_by_id = $2 AND accepted_at IS NULL AND (role = 'owner' OR NOT $3) RETURNING id`,
    [projectId, userId, isManager],
  );
  for (const { id } of invitations) await note('withdrawInvitation', id);
  if (isManager) return;
  for (const id of await endAccessOfKeysBy(tx, projectId, userId)) await note('removeApiKeyFromProject', id);
}

/**
 * Locks the project's members, so that if two owners leave at once, one stays, and that of two who demote or remove each other, the second
 * finds that they no longer may.
 */
async function lockMembers(
  tx: Tx,
  projectId: string,
  userId: string,
  actorId: string,
): Promise<{ role: Role; owners: number; asOwner: boolean; canManage: boolean }> {
  const rows = await sql<{ user_id: string; role: Role }>(
    tx,
    'SELECT user_id, role FROM members WHERE project_id = $1 ORDER BY user_id FOR UPDATE',
    [projectId],
  );
  const roleOf = (id: string) => rows.find((row) => row.user_id === id)?.role;
  const [role, actorRole] = [roleOf(userId), roleOf(actorId)];
  const permissions = actorRole === undefined ? [] : PERMISSIONS[actorRole];
  if (role === undefined) throw notFound('member');
  const owners = rows.filter((row) => row.role === 'owner').length;
  return { role, owners, asOwner: permissions.includes('own'), canManage: permissions.includes('manage') };
}

const noLongerManages = () => new DomainError('forbidden', 'You may no longer manage the members of this project.');
const onlyOwners = () => new DomainError('forbidden', 'Only an owner can grant or remove ownership.');
const lastOwner = () => new DomainError('conflict', 'A project must have at least one owner.');
