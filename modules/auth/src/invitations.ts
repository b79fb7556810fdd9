import {
  audit,
  checkLimit,
  config,
  conflictIfTaken,
  databaseNow,
  databaseTime,
  db,
  DomainError,
  emailKey,
  emailProblem,
  inTransaction,
  invalid,
  logger,
  newId,
  notFound,
  pool,
  type Prisma,
  sql,
  type Tx,
} from '@postroom/platform';
import { askOtherCells, type UserProfile } from '@postroom/projects/cells';
import { PERMISSIONS, type Role } from './caller.ts';
import { hashToken, newToken } from './mailed-token.ts';
import { canSendSystemMail, sendSystemMail } from './system-mail.ts';
import { createUser } from './users.ts';

type Invitation = Prisma.InvitationModel;

/** Maximum number of members of a project, pending invitations included. */
const MAX_MEMBERS = 500;
const VALID_MS = 7 * 24 * 3600 * 1000;

/**
 * Invites an address to a project, in place of its pending invitation to the project. The link goes only to that address, so possessing it proves control of the
 * mailbox and allows creating the account.
 * @throws DomainError `validation_error`, `forbidden` for a role above the caller's, `conflict` for an existing
 * member, an address that is being invited, if the project has too many members and invitations, or if the mail can't be sent.
 */
export async function invite(
  projectId: string,
  { email, role, invitedById, asOwner }: { email: string; role: Role; invitedById: string; asOwner: boolean },
): Promise<Invitation> {
  const address = emailKey(email);
  const problem = emailProblem(email.trim());
  if (problem !== undefined) throw invalid({ field: 'email', message: problem });
  if (role === 'owner' && !asOwner) throw new DomainError('forbidden', 'Only an owner may invite an owner.');
  const member = await db.member.count({ where: { projectId, user: { email: address } } });
  if (member > 0)
    throw new DomainError('conflict', `${address} is already a member.`, [
      { field: 'email', message: 'is the address of a member' },
    ]);
  if (!canSendSystemMail()) {
    throw new DomainError(
      'conflict',
      'Invitations are sent by email, and this installation has no mail server for them. Set SMTP_URL and SYSTEM_MAIL_FROM, restart, and invite again.',
    );
  }
  const token = newToken();
  const expiresAt = new Date(databaseNow() + VALID_MS);
  const invitation = await db.$transaction(async (tx) => {
    if (!(await mayInvite(tx, { projectId, invitedById, role })))
      throw new DomainError('forbidden', 'You may no longer invite people to this project.');
    // The role of an earlier invitation may have been a mistake.
    await tx.invitation.deleteMany({ where: { projectId, email: address, acceptedAt: null } });
    const created = await tx.invitation
      .create({
        data: {
          id: newId('inv'),
          projectId,
          email: address,
          role,
          invitedById,
          tokenHash: hashToken(token),
          expiresAt,
        },
        include: { project: true, invitedBy: true },
      })
      .catch(conflictIfTaken('email', `${address} is being invited by another member.`));
    const limit = { of: projectId, rows: 'members and pending invitations', max: MAX_MEMBERS };
    await checkLimit(tx, limit, async () => {
      const members = await tx.member.count({ where: { projectId } });
      return members + (await tx.invitation.count({ where: pendingInvitations(projectId) }));
    });
    return created;
  });
  const url = `${config.PUBLIC_URL}/invitation?token=${token}`;
  await sendSystemMail({
    to: address,
    subject: `${invitation.invitedBy.name} invites you to ${invitation.project.name}`,
    text: `${invitation.invitedBy.name} invites you to the project ${invitation.project.name} on Postroom.\n\nAccept within seven days:\n${url}\n\nIf you have a Postroom account with this address, sign in there first.`,
  }).catch(async (error: unknown) => {
    logger.error({ err: error, invitationId: invitation.id }, 'could not send invitation mail; check SMTP_URL');
    await db.invitation.deleteMany({ where: { id: invitation.id } });
    throw new DomainError(
      'conflict',
      `The mail server rejected the invitation to ${address}, so no one was invited, and earlier invitations of the address have ended. The log has the reason.`,
    );
  });
  return invitation;
}

/** Matches a project's pending invitations. */
export const pendingInvitations = (projectId: string) => ({
  projectId,
  acceptedAt: null,
  expiresAt: { gt: databaseTime() },
});

/** A project's pending invitations, newest first. */
export async function listInvitations(projectId: string): Promise<Invitation[]> {
  return db.invitation.findMany({ where: pendingInvitations(projectId), orderBy: { id: 'desc' } });
}

/** Revokes an invitation. @throws DomainError `not_found` if none is pending under the id. */
export async function withdrawInvitation(projectId: string, id: string): Promise<void> {
  const { count } = await db.invitation.deleteMany({ where: { id, projectId, acceptedAt: null } });
  if (count === 0) throw notFound('invitation');
}

/** What the holder of an invitation's link may know before accepting it. */
export interface InvitationPreview {
  projectName: string;
  email: string;
  hasAccount: boolean;
}

/** The invitation of a link. @throws DomainError `not_found` for an invalid, used or expired token. */
export async function previewInvitation(token: string): Promise<InvitationPreview> {
  const { email, projectName } = await findAnywhere(token);
  return { projectName, email, hasAccount: (await db.user.count({ where: { email } })) > 0 };
}

/** An invitation to a project of this cell or of another one. */
interface FoundInvitation {
  email: string;
  projectName: string;
  /** Only if the project is in this cell. */
  invitation?: Invitation;
}

async function findAnywhere(token: string): Promise<FoundInvitation> {
  const hash = hashToken(token);
  const found = await findByHash(hash);
  if (found !== undefined) return found;
  const elsewhere = await askOtherCells<FoundInvitation>(`invitation/${hash}`);
  if (elsewhere === undefined) throw invitationInvalid();
  return elsewhere;
}

/** A pending invitation to a project of this cell. */
export async function findByHash(tokenHash: string): Promise<FoundInvitation | undefined> {
  const invitation = await db.invitation.findUnique({ where: { tokenHash }, include: { project: true } });
  if (invitation === null || invitation.acceptedAt !== null || invitation.expiresAt < databaseTime()) return undefined;
  if (!(await mayInvite(pool, invitation))) return undefined;
  return { email: invitation.email, projectName: invitation.project.name, invitation };
}

/**
 * Accepts an invitation, once. An existing user gives the token; a new one also a name and password.
 * @throws DomainError `not_found` for an invalid, used or expired token, `validation_error`, or `forbidden` if a
 * different address was invited.
 */
export async function acceptInvitation(input: {
  token: string;
  name?: string | null | undefined;
  password?: string | null | undefined;
  /** The signed-in user, if any. */
  userId: string | undefined;
}): Promise<{ projectId: string; userId: string }> {
  const { email, invitation } = await findAnywhere(input.token);
  const { id, name } = await accountFor(email, input);
  if (invitation !== undefined) return addMember(invitation, id);
  const person = { id, name, email };
  const joined = await askOtherCells<{ projectId: string }>(`join/${hashToken(input.token)}`, person);
  if (joined === undefined) throw invitationInvalid();
  return { projectId: joined.projectId, userId: id };
}

/** Accepts an invitation to a project of this cell, for a person who has signed in to another one. */
export async function acceptFromOtherCell(tokenHash: string, { id, name, email }: UserProfile) {
  const found = await findByHash(tokenHash);
  if (found?.invitation === undefined || found.email !== email) return undefined;
  await sql(
    pool,
    `INSERT INTO users (id, name, email, email_verified) VALUES ($1, $2, $3, true) ON CONFLICT (id) DO NOTHING`,
    [id, name, email],
  ).catch(conflictIfTaken('email', `${email} has another account in the cell of this project.`));
  return addMember(found.invitation, id);
}

/** Adds the member, and records it in the audit log of the project that they join. */
async function addMember(invitation: Invitation, userId: string): Promise<{ projectId: string; userId: string }> {
  const { projectId } = invitation;
  await inTransaction(async (tx) => {
    await assertStillAllowed(tx, invitation);
    const accepted = await sql(
      tx,
      'UPDATE invitations SET accepted_at = now() WHERE id = $1 AND accepted_at IS NULL RETURNING id',
      [invitation.id],
    );
    if (accepted.length === 0) throw new DomainError('not_found', 'This invitation was already used.');
    await sql(tx, 'INSERT INTO members (project_id, user_id, role) VALUES ($1, $2, $3::role) ON CONFLICT DO NOTHING', [
      projectId,
      userId,
      invitation.role,
    ]);
    const [user] = await sql<{ name: string }>(tx, 'SELECT name FROM users WHERE id = $1', [userId]);
    const entry = { action: 'acceptInvitation', targetId: userId, targetName: user?.name };
    await audit(tx, { projectId, actorId: userId, ...entry });
  });
  return { projectId, userId };
}

const invitationInvalid = () => new DomainError('not_found', 'This invitation is no longer valid. Ask for a new one.');

/** An invitation is valid only while its sender may invite, even if that right ended while the mail was in flight. */
async function assertStillAllowed(tx: Tx, invitation: Invitation): Promise<void> {
  if (!(await mayInvite(tx, invitation))) throw invitationInvalid();
}

/** Locks the inviter's membership, so that removing them at the same time also removes the invitation. */
async function mayInvite(
  tx: Tx,
  { projectId, invitedById, role }: Pick<Invitation, 'projectId' | 'invitedById' | 'role'>,
): Promise<boolean> {
  const [inviter] = await sql<{ role: Role }>(
    tx,
    'SELECT role FROM members WHERE project_id = $1 AND user_id = $2 FOR SHARE',
    [projectId, invitedById],
  );
  const needed = role === 'owner' ? 'own' : 'manage';
  return inviter !== undefined && PERMISSIONS[inviter.role].includes(needed);
}

async function accountFor(
  email: string,
  {
    name,
    password,
    userId,
  }: { name?: string | null | undefined; password?: string | null | undefined; userId: string | undefined },
): Promise<UserProfile> {
  const account = await db.user.findUnique({ where: { email } });
  if (account === null) {
    if (password == null) throw invalid({ field: 'password', message: 'is required: this address has no account yet' });
    return createUser({ email, name: name ?? '', password });
  }
  if (account.id !== userId) throw new DomainError('forbidden', `Sign in as ${email} to accept this invitation.`);
  return account;
}
