import { execFile, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  BUILTIN_LOCALE,
  freePorts,
  POSTGRES_PACKAGE,
  postgresPrograms,
  run,
  serverUser,
  startPostgres,
} from '@postroom/embedded';
import { execute, TEMPLATE } from '../packages/testkit/src/database.ts';
import { expect, test } from 'vitest';
import { migrate } from '@postroom/migrations';

const ROOT = join(import.meta.dirname, '..');

/** Where Debian puts each version. */
const DEBIAN_FOLDER = '/usr/lib/postgresql';
/** Where npm's packages are kept between runs. */
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'postroom');
const INSTALL_TIMEOUT_MS = 120_000;

/** What differs between all versions: how migrations run, and the plans that PostgreSQL makes for the busiest queries. */
const PLANS = [
  'packages/migrations/test/migrate',
  'modules/campaigns/test/claim.integration',
  'modules/webhooks/test/dispatch-cost.integration',
];
/** Statements that the oldest version might not know: bulk writes, cursors, JSON, searches. */
const STATEMENTS = [
  'modules/campaigns/test/campaigns.integration',
  'modules/contacts',
  'modules/emails',
  'modules/groups',
  'modules/ledger',
  'apps/worker/test/move-project.integration',
];

/**
 * The versions besides 18, on which all other tests run. What both 15 and 18 accept, those between accept too, so they run only what
 * they may plan differently.
 */
const VERSIONS = [
  { version: '15', npm: '15.18.0-beta.17', files: [...PLANS, ...STATEMENTS], localeOptions: ['--locale=C.UTF-8'] },
  { version: '16', npm: '16.14.0-beta.17', files: PLANS, localeOptions: ['--locale=C.UTF-8'] },
  { version: '17', npm: '17.10.0-beta.17', files: PLANS, localeOptions: BUILTIN_LOCALE },
];

for (const { version, npm, files, localeOptions } of VERSIONS) {
  const programs = await programsOf(version, npm);
  test.skipIf(programs === undefined)(
    `PostgreSQL ${version}: the migrations apply, and ${files.length} folders or files of integration tests pass`,
    async () => {
      const { url, stop } = await startServer({ programs: programs ?? '', localeOptions });
      try {
        expect((await migrate(url)).length).toBeGreaterThan(10);
        await execute(withDatabase(url, 'postgres'), `CREATE DATABASE ${TEMPLATE} TEMPLATE postroom`);
        expect(await serverVersion(url)).toMatch(new RegExp(`^${version}\\b`));
        const { status, output } = await runIntegrationTests(files, {
          DATABASE_URL: url,
          // Temporal is a witness of the database whose workers poll a queue, and would hold that of the other tests.
          TEMPORAL_TASK_QUEUE: `postgres-${version}`,
        });
        expect(status, output.slice(-5_000)).toBe(0);
      } finally {
        await stop();
      }
    },
    600_000,
  );
}

/** The `bin` folder of a version: Debian's, or npm's; undefined if neither can be had. */
async function programsOf(version: string, npmVersion: string): Promise<string | undefined> {
  const debian = join(DEBIAN_FOLDER, version, 'bin');
  if (existsSync(join(debian, 'initdb'))) return debian;
  const folder = join(CACHE, `postgresql-${npmVersion}`);
  try {
    if (!existsSync(folder)) await installPackage(npmVersion, folder);
    return postgresPrograms(serverUser(), join(folder, 'node_modules', POSTGRES_PACKAGE));
  } catch (error) {
    console.log(`PostgreSQL ${version} is not available: ${(error as Error).message.split('\n')[0]}`);
    return undefined;
  }
}

async function installPackage(version: string, folder: string): Promise<void> {
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    await promisify(execFile)(
      'npm',
      [
        'install',
        '--prefix',
        unfinished,
        '--ignore-scripts',
        '--no-audit',
        '--no-fund',
        `${POSTGRES_PACKAGE}@${version}`,
      ],
      { cwd: unfinished, timeout: INSTALL_TIMEOUT_MS },
    );
    if (!existsSync(folder)) renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function startServer(server: { programs: string; localeOptions: readonly string[] }) {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-postgres-version-'));
  chmodSync(folder, 0o711); // for PostgreSQL's own user, when root runs the tests
  const [port = 0] = await freePorts(1);
  const logFile = join(folder, 'postgres.log');
  return startPostgres(run, {
    folder: join(folder, 'data'),
    port,
    logFile,
    durable: false,
    removeAfter: folder,
    server,
  });
}

/** In a process that finds the services running, with another database. */
async function runIntegrationTests(
  files: readonly string[],
  settings: { DATABASE_URL: string; TEMPORAL_TASK_QUEUE: string },
): Promise<{ status: number; output: string }> {
  const tests = spawn(
    process.execPath,
    // In one process, because each one loads all modules, which takes as long as many tests.
    [join(ROOT, 'scripts/test.mjs'), '--project=integration*', '--reporter=dot', '--maxWorkers=1', ...files],
    { cwd: ROOT, env: { ...process.env, ...settings, REQUIRE_ALL: '' }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  for (const stream of [tests.stdout, tests.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const status = await new Promise<number>((resolve) => tests.once('close', resolve));
  return { status, output };
}

const withDatabase = (url: string, name: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href;

async function serverVersion(url: string): Promise<string | undefined> {
  const [row] = await execute<{ version: string }>(url, `SELECT current_setting('server_version') AS version`);
  return row?.version;
}
