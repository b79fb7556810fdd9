import { db, DomainError, emailKey, inTransaction, sql } from '@postroom/platform';
import { createApiKey, createProject, listApiKeys, listProjects } from '@postroom/projects';
import { createFirstOwner } from './users.ts';

/** The advisory lock of a run. Any number that nothing else uses. */
const LOCK = 72707370;

export interface BootstrapOptions {
  owner: { email: string; password: string };
  /** Name of the project; one of this name is used if there is one. */
  project: string;
  /** Name of the API key; none is created if one of this name covers the project. */
  key: string;
}

export interface Bootstrapped {
  owner: { email: string; created: boolean };
  project: { id: string; name: string; created: boolean };
  /** `key` is the secret, which is shown only when it is created. */
  apiKey: { id: string; name: string; created: boolean; key?: string };
}

/**
 * Creates the first owner, a project and an API key with full scope for it, as far as they don't exist. Concurrent runs wait for
 * each other, so they create nothing twice.
 * @throws DomainError `not_found` if the project has no owner and the address no account; `conflict` if the first owner signs up meanwhile.
 */
export function bootstrap({ owner, project: name, key: keyName }: BootstrapOptions): Promise<Bootstrapped> {
  return inTransaction(async (tx) => {
    await sql(tx, 'SELECT pg_advisory_xact_lock($1)', [LOCK]);
    const known = (await listProjects('all')).find((each) => each.name === name);
    const isFirst = (await db.user.count()) === 0;
    // Checked before the project is created, because a mistyped address must not leave a project without an owner.
    const account = isFirst || (await hasOwner(known)) ? undefined : await getAccount(owner.email, name);
    const project = known ?? (await createProject(name));
    // The first owner owns every project that exists by then.
    const created = await createFirstOwner({ ...owner, name: 'Owner' });
    if (isFirst && created === undefined)
      throw new DomainError('conflict', 'The first owner has just signed up. Run this again.');
    if (account !== undefined) await makeOwner(project.id, account.id);
    const present = (await listApiKeys(project.id)).find((each) => each.name === keyName);
    const apiKey =
      present === undefined
        ? { ...(await createApiKey({ name: keyName, scope: 'full', projects: [project.id] })), created: true }
        : { id: present.id, created: false };
    return {
      owner: { email: owner.email, created: created !== undefined },
      project: { id: project.id, name, created: known === undefined },
      apiKey: { ...apiKey, name: keyName },
    };
  });
}

const hasOwner = async (project: { id: string } | undefined): Promise<boolean> =>
  project !== undefined && (await db.member.count({ where: { projectId: project.id, role: 'owner' } })) > 0;

/** The account that becomes the owner of a project without one. @throws DomainError `not_found`. */
async function getAccount(email: string, project: string): Promise<{ id: string }> {
  const user = await db.user.findUnique({ where: { email: emailKey(email) } });
  if (user !== null) return user;
  throw new DomainError(
    'not_found',
    `${email} has no account, so the project "${project}" would have no owner. Set POSTROOM_OWNER_EMAIL to the address of a user.`,
  );
}

async function makeOwner(projectId: string, userId: string): Promise<void> {
  const member = { projectId, userId };
  await db.member.upsert({
    where: { projectId_userId: member },
    create: { ...member, role: 'owner' },
    update: { role: 'owner' },
  });
}
