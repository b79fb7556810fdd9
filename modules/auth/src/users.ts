import {
  checkDisplayName,
  conflictIfTaken,
  db,
  DomainError,
  emailKey,
  emailProblem,
  invalid,
  newId,
  type Prisma,
} from '@postroom/platform';
import { createProject } from '@postroom/projects';
import { auth, MIN_PASSWORD_LENGTH } from './auth.ts';
import { informOtherCells } from './profiles.ts';

type User = Prisma.UserModel;

export interface NewUser {
  email: string;
  name: string;
  password: string;
}

/**
 * Creates an account whose address is verified: by the invitation mail, or by the operator.
 * @throws DomainError `validation_error` naming the field, `conflict` if the address has an account.
 */
export async function createUser({ email, name, password }: NewUser): Promise<User> {
  const address = emailKey(email);
  const problem = emailProblem(email.trim());
  if (problem !== undefined) throw invalid({ field: 'email', message: problem });
  if (password.length < MIN_PASSWORD_LENGTH || password.length > 128) {
    throw invalid({ field: 'password', message: `must be ${MIN_PASSWORD_LENGTH} to 128 characters` });
  }
  const called = checkDisplayName(name);
  const { password: passwords } = await auth().$context;
  const hash = await passwords.hash(password);
  const id = newId('usr');
  return db.user
    .create({
      data: {
        id,
        email: address,
        name: called,
        emailVerified: true,
        accounts: { create: { id: newId('usr'), accountId: id, providerId: 'credential', password: hash } },
      },
    })
    .catch(conflictIfTaken('email', `${address} already has an account.`));
}

/** Whether a user can sign in with a password: not everyone who signs in with the provider has one. */
export async function hasPassword(userId: string): Promise<boolean> {
  return (await db.account.count({ where: { userId, providerId: 'credential' } })) > 0;
}

/** Changes a user's display name. @throws DomainError `validation_error`. */
export async function renameUser(id: string, name: string): Promise<void> {
  await db.$transaction((tx) => tx.user.update({ where: { id }, data: { name: checkDisplayName(name) } }));
  await informOtherCells(id);
}

/**
 * Creates the first owner, of every existing project or of a new one; does nothing if a user exists. If several
 * programs start at once, one of them creates it.
 */
export async function createFirstOwner(owner: NewUser): Promise<User | undefined> {
  if ((await db.user.count()) > 0) return undefined;
  const user = await createUser(owner).catch((error: unknown) => {
    if (error instanceof DomainError && error.code === 'conflict') return undefined;
    throw error;
  });
  if (user === undefined) return undefined;
  if ((await db.project.count()) === 0) await createProject('First project');
  const projects = await db.project.findMany({ select: { id: true } });
  await db.member.createMany({
    data: projects.map(({ id }) => ({ projectId: id, userId: user.id, role: 'owner' as const })),
  });
  return user;
}
