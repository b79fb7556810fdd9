import { audit, conflictIfTaken, db, inTransaction, logger, pool, sql, type Tx } from '@postroom/platform';
import { askCell, otherCells, type UserProfile } from '@postroom/projects/cells';

interface AddressChange {
  before: string;
  after: string;
}

/**
 * Changes the address of a user in this cell. Pending invitations of the old address follow, and the audit log of each of the user's
 * projects records it. @returns undefined if it is the user's address already.
 * @throws DomainError `conflict` if the address has another account.
 */
export async function changeAddress(
  tx: Tx,
  { id, email: after }: Pick<UserProfile, 'id' | 'email'>,
): Promise<AddressChange | undefined> {
  const [user] = await sql<{ name: string; email: string }>(
    tx,
    'SELECT name, email FROM users WHERE id = $1 FOR UPDATE',
    [id],
  );
  if (user === undefined || user.email === after) return undefined;
  const before = user.email;
  await sql(tx, 'UPDATE users SET email = $2, email_verified = true, updated_at = now() WHERE id = $1', [
    id,
    after,
  ]).catch(conflictIfTaken('email', `${after} already has an account.`));
  await moveInvitations(tx, { before, after });
  const projects = await sql<{ id: string }>(
    tx,
    'SELECT project_id AS id FROM members WHERE user_id = $1 ORDER BY project_id',
    [id],
  );
  const changes = [{ field: 'email', before, after }];
  for (const { id: projectId } of projects)
    await audit(tx, {
      projectId,
      actorId: id,
      action: 'emailChangeConfirm',
      targetId: id,
      targetName: user.name,
      changes,
    });
  return { before, after };
}

/** Of the invitations of both addresses to a project the newest stays, as if they had been of one address. */
async function moveInvitations(tx: Tx, { before, after }: AddressChange): Promise<void> {
  await sql(
    tx,
    `DELETE FROM invitations i USING invitations newer
     WHERE i.email IN ($1, $2) AND newer.email IN ($1, $2) AND i.project_id = newer.project_id AND i.id < newer.id
       AND i.accepted_at IS NULL AND newer.accepted_at IS NULL`,
    [before, after],
  );
  await sql(tx, 'UPDATE invitations SET email = $2 WHERE email = $1 AND accepted_at IS NULL', [before, after]).catch(
    conflictIfTaken('email', `${after} is just being invited to a project. Try again in a moment.`),
  );
}

/** What other cells should know about a user; undefined unless the user signs in to this cell. */
export async function profileHere(userId: string): Promise<UserProfile | undefined> {
  const [user] = await sql<UserProfile>(
    pool,
    'SELECT id, name, email FROM users u WHERE id = $1 AND EXISTS (SELECT FROM accounts WHERE user_id = u.id)',
    [userId],
  );
  return user;
}

/** Tells the other cells about a changed user. One that does not answer gets to know it when the user loads their projects. */
export async function informOtherCells(userId: string): Promise<void> {
  const cells = otherCells();
  if (cells.length === 0) return;
  const person = await profileHere(userId);
  if (person === undefined) return;
  await Promise.all(cells.map((cell) => askCell(cell, `user/${userId}`, person).catch(() => undefined)));
}

/** Updates this cell's copy of a user who signs in to another one. A copy that can't be updated now stays as it is. */
export async function receiveProfile({ id, name, email }: UserProfile): Promise<void> {
  const known = await db.user.findUnique({ where: { id } });
  if (known === null || (known.name === name && known.email === email)) return;
  await inTransaction(async (tx) => {
    await changeAddress(tx, { id, email });
    await sql(tx, 'UPDATE users SET name = $2, updated_at = now() WHERE id = $1 AND name <> $2', [id, name]);
  }).catch((error: unknown) => {
    logger.warn({ err: error, userId: id }, 'could not update the copy of a user of another cell');
  });
}
