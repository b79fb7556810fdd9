import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const VERSION = '4.32.5';
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'postroom');
const FOLDER = join(CACHE, `schemathesis-${VERSION}`);
const PROGRAM = join(FOLDER, 'bin/schemathesis');

/**
 * The path of schemathesis, the schema-driven fuzzer, for tests; installed in the user's cache on first use.
 * `undefined`, with a message, if it can't be installed.
 */
export async function schemathesis(): Promise<string | undefined> {
  if (existsSync(PROGRAM)) return PROGRAM;
  try {
    console.log(`Installing schemathesis ${VERSION} in ${FOLDER} ...`);
    mkdirSync(CACHE, { recursive: true });
    await run('python3', ['-m', 'venv', FOLDER]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `schemathesis==${VERSION}`];
    await run(join(FOLDER, 'bin/python'), pip, { timeout: 180_000 });
    return PROGRAM;
  } catch (error) {
    rmSync(FOLDER, { recursive: true, force: true });
    console.warn(
      `The fuzzer is skipped: schemathesis could not be installed (${(error as Error).message.split('\n')[0]}).`,
    );
    return undefined;
  }
}
