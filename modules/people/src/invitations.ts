import { createHash, randomBytes } from 'node:crypto';
import {
  config,
  db,
  DomainError,
  emailKey,
  emailProblem,
  invalid,
  logger,
  newId,
  notFound,
  type Prisma,
} from '@postroom/platform';
import type { Role } from './person.ts';
import { sendSystemMail } from './system-mail.ts';
import { createUser } from './users.ts';

type Invitation = Prisma.InvitationModel;

const VALID_MS = 7 * 24 * 3600 * 1000;

const hashToken = (token: string) => createHash('sha256').update(token).digest('hex');

/**
 * Invites an address to a project, by mail. The link is returned too, this once, for whoever has no relay yet, or one that takes nothing now.
 * @throws DomainError `validation_error`, `forbidden` for a role above one's own, `conflict` for somebody who is in already.
 */
export async function invite(
  projectId: string,
  { email, role, invitedById, asOwner }: { email: string; role: Role; invitedById: string; asOwner: boolean },
): Promise<{ invitation: Invitation; url: string }> {
  const address = emailKey(email);
  const problem = emailProblem(address);
  if (problem !== undefined) throw invalid({ field: 'email', message: problem });
  if (role === 'owner' && !asOwner) throw new DomainError('forbidden', 'Only an owner may invite an owner.');
  const member = await db.member.count({ where: { projectId, user: { email: address } } });
  if (member > 0) throw new DomainError('conflict', `${address} is a member already.`);
  const token = randomBytes(32).toString('base64url');
  const expiresAt = new Date(Date.now() + VALID_MS);
  const invitation = await db.invitation.create({
    data: { id: newId('inv'), projectId, email: address, role, invitedById, tokenHash: hashToken(token), expiresAt },
    include: { project: true, invitedBy: true },
  });
  const url = `${config.PUBLIC_URL}/invitation?token=${token}`;
  await sendSystemMail({
    to: address,
    subject: `${invitation.invitedBy.name} invites you to ${invitation.project.name}`,
    text: `${invitation.invitedBy.name} invites you to the project ${invitation.project.name} on Postroom.\n\nAccept within seven days:\n${url}`,
  }).catch((error: unknown) =>
    logger.warn({ err: error }, 'an invitation could not be mailed, so only its link is left'),
  );
  return { invitation, url };
}

/** The invitations of a project that still wait, newest first. */
export async function listInvitations(projectId: string): Promise<Invitation[]> {
  return db.invitation.findMany({
    where: { projectId, acceptedAt: null, expiresAt: { gt: new Date() } },
    orderBy: { id: 'desc' },
  });
}

/** Takes an invitation back. @throws DomainError `not_found` when none waits under the id. */
export async function withdrawInvitation(projectId: string, id: string): Promise<void> {
  const { count } = await db.invitation.deleteMany({ where: { id, projectId, acceptedAt: null } });
  if (count === 0) throw notFound('invitation');
}

/**
 * Accepts an invitation: a person who has an account gives the token, another a name and a password as well. Works once.
 * @throws DomainError `not_found` for a token that is wrong, used or too old, `validation_error`, `forbidden` when somebody
 * else's address was invited.
 */
export async function acceptInvitation(input: {
  token: string;
  name?: string | null | undefined;
  password?: string | null | undefined;
  /** Who is signed in, if anybody. */
  userId: string | undefined;
}): Promise<{ projectId: string; userId: string }> {
  const invitation = await db.invitation.findUnique({ where: { tokenHash: hashToken(input.token) } });
  if (invitation === null || invitation.acceptedAt !== null || invitation.expiresAt < new Date()) {
    throw new DomainError('not_found', 'This invitation is not valid any more. Ask for another.');
  }
  const userId = await accountFor(invitation, input);
  await db.$transaction(async (tx) => {
    const { count } = await tx.invitation.updateMany({
      where: { id: invitation.id, acceptedAt: null },
      data: { acceptedAt: new Date() },
    });
    if (count === 0) throw new DomainError('not_found', 'This invitation has been used.');
    await tx.member.upsert({
      where: { projectId_userId: { projectId: invitation.projectId, userId } },
      create: { projectId: invitation.projectId, userId, role: invitation.role },
      update: {},
    });
  });
  return { projectId: invitation.projectId, userId };
}

async function accountFor(
  { email }: Invitation,
  {
    name,
    password,
    userId,
  }: { name?: string | null | undefined; password?: string | null | undefined; userId: string | undefined },
): Promise<string> {
  const account = await db.user.findUnique({ where: { email } });
  if (account === null) {
    if (password == null) throw invalid({ field: 'password', message: 'is required: this address has no account yet' });
    return (await createUser({ email, name: name ?? '', password })).id;
  }
  if (account.id !== userId) throw new DomainError('forbidden', `Sign in as ${email} to accept this invitation.`);
  return account.id;
}
