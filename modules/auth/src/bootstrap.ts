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
 * @throws DomainError `not_found` if the project has no owner and the address no account.
 */
export function bootstrap({ owner, project: name, key: keyName }: BootstrapOptions): Promise<Bootstrapped> {
  return inTransaction(async (tx) => {
    await sql(tx, 'SELECT pg_advisory_xact_lock($1)', [LOCK]);
    const known = (await listProjects('all')).find((each) => each.name === name);
    if (known === undefined) await assertAccount(owner.email, name);
    const project = known ?? (await createProject(name));
    // The first owner owns every project that exists by then.
    const created = await createFirstOwner({ ...owner, name: 'Owner' });
    await ensureOwner(project, owner.email);
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

/** A mistyped address must not leave a project behind that nobody owns. The first user of all is created afterwards. */
async function assertAccount(email: string, project: string): Promise<void> {
  const isFirst = (await db.user.count()) === 0;
  if (!isFirst && (await db.user.findUnique({ where: { email: emailKey(email) } })) === null)
    throw new DomainError(
      'not_found',
      `${email} has no account, so the project "${project}" would have no owner. Set POSTROOM_OWNER_EMAIL to the address of a user.`,
    );
}

/** Without an owner, nobody could open the project in the dashboard or invite others to it. */
async function ensureOwner({ id: projectId, name }: { id: string; name: string }, email: string): Promise<void> {
  if ((await db.member.count({ where: { projectId, role: 'owner' } })) > 0) return;
  const user = await db.user.findUnique({ where: { email: emailKey(email) } });
  if (user === null)
    throw new DomainError(
      'not_found',
      `The project "${name}" has no owner, and ${email} has no account. Set POSTROOM_OWNER_EMAIL to the address of a user.`,
    );
  const member = { projectId, userId: user.id };
  await db.member.upsert({
    where: { projectId_userId: member },
    create: { ...member, role: 'owner' },
    update: { role: 'owner' },
  });
}
