import { spawnSync } from 'node:child_process';
import { StartError } from './errors.ts';

export interface ServerUser {
  uid: number;
  gid: number;
}

/**
 * PostgreSQL refuses to run as root. As root we run it as the system user `postgres`, created when missing;
 * `undefined` for everyone else.
 * @throws StartError if that user can't be created.
 */
export function serverUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const user = findUser('postgres') ?? createUser('postgres');
  if (user !== undefined) return user;
  throw new StartError(
    'PostgreSQL refuses to run as root, and no user could be created for it. Start Postroom as another user.',
  );
}

/** Whether the user can access a path, including every parent folder. */
export function canReach(path: string, { uid, gid }: ServerUser): boolean {
  return spawnSync('test', ['-x', path], { uid, gid, cwd: '/' }).status === 0;
}

function findUser(name: string): ServerUser | undefined {
  const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }));
  if (uid?.status !== 0 || gid?.status !== 0) return undefined;
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

function createUser(name: string): ServerUser | undefined {
  spawnSync('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', name]);
  return findUser(name);
}
