// Seeds a new installation: two projects, three keys, a sending domain, simulated readers, and an owner. A separate
// program because it needs the database settings in its environment. The previous state comes in, and the new state
// goes out, as an IPC message.
import { randomBytes } from 'node:crypto';
import { createContactsBatch } from '@postroom/contacts';
import { addLocalDomain, senderProblem } from '@postroom/domains';
import { createGroup } from '@postroom/groups';
import { createFirstOwner } from '@postroom/auth';
import { closeDatabase, config } from '@postroom/platform';
import { authenticate, createApiKey, createProject, listProjects } from '@postroom/projects';
import { DEMO_DOMAIN } from './demo-domain.ts';
import type { DevFile, KeyName } from './dev-file.ts';

export type Seed = Pick<DevFile, 'projects' | 'keys' | 'owner'>;

const PROJECTS = ['Demo', 'Second'];

/** Creates what is missing. Valid keys stay. Lost keys are replaced, but remain valid for anyone who has them. */
async function seed(known: Seed): Promise<Seed> {
  const isFirst = (await listProjects('all')).length === 0;
  const projects = await seedProjects();
  const [demo] = projects;
  if (demo === undefined) throw new Error('No project exists.');
  if (isFirst) await seedReaders(demo.id);
  if ((await senderProblem(demo.id, `hello@${DEMO_DOMAIN}`)) !== undefined) await addLocalDomain(demo.id, DEMO_DOMAIN);
  const keys = {
    full: await keyFor('full', { scope: 'full', projects: [demo.id] }),
    sending: await keyFor('sending', { scope: 'sending', projects: [demo.id] }),
    all: await keyFor('all', { scope: 'full', projects: 'all' }),
  };
  return { projects, keys, owner: (await firstOwner()) ?? known.owner };

  async function keyFor(
    name: KeyName,
    rights: { scope: 'full' | 'sending'; projects: 'all' | string[] },
  ): Promise<string> {
    const key = known.keys[name];
    if (key !== undefined && (await isValid(key))) return key;
    return (await createApiKey({ name: `Development: ${name}`, ...rights })).key;
  }
}

/** Finds projects by name. Users may rename them, in which case new ones are created. */
async function seedProjects(): Promise<Seed['projects']> {
  const present = (await listProjects('all')).reverse();
  const seeded = await Promise.all(
    PROJECTS.map(async (name) => present.find((project) => project.name === name) ?? createProject(name)),
  );
  return seeded.map(({ id, name }) => ({ id, name }));
}

/** Simulated readers per action; the inbox plays them (docs/how-to/inbox.md). */
const READERS = { opened: 12, clicked: 6, bounced: 1, complained: 1 };

/** A group whose members open, click, bounce and complain, so that the first campaign has a report. */
async function seedReaders(projectId: string): Promise<void> {
  const emails = Object.entries(READERS).flatMap(([act, count]) =>
    Array.from({ length: count }, (_, index) => `${act}+${index + 1}@simulator.invalid`),
  );
  await createContactsBatch(
    projectId,
    emails.map((email) => ({ email, name: `Reader ${email.split('@', 1)[0]}` })),
  );
  await createGroup(projectId, { name: 'Simulated readers', emails });
}

/** The initial owner; undefined if a user already exists. */
async function firstOwner(): Promise<NonNullable<Seed['owner']> | undefined> {
  const { POSTROOM_OWNER_EMAIL: email, POSTROOM_OWNER_PASSWORD: password } = config;
  const owner = {
    email: email ?? 'owner@postroom.invalid',
    password: password ?? randomBytes(9).toString('base64url'),
  };
  return (await createFirstOwner({ ...owner, name: 'Owner' })) === undefined ? undefined : owner;
}

async function isValid(key: string): Promise<boolean> {
  return authenticate(`Bearer ${key}`, undefined).then(
    () => true,
    () => false,
  );
}

if (import.meta.main) {
  process.once('message', async (known: Seed) => {
    process.send?.(await seed(known));
    await closeDatabase();
    process.disconnect?.();
  });
}
