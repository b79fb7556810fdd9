import { inTransaction, sql } from '@postroom/platform';
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
 */
export function bootstrap({ owner, project: name, key: keyName }: BootstrapOptions): Promise<Bootstrapped> {
  return inTransaction(async (tx) => {
    await sql(tx, 'SELECT pg_advisory_xact_lock($1)', [LOCK]);
    const known = (await listProjects('all')).find((each) => each.name === name);
    const project = known ?? (await createProject(name));
    // The first owner owns every project that exists by then.
    const created = await createFirstOwner({ ...owner, name: 'Owner' });
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
