import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, serverUser } from '@postroom/embedded';
import { execute, TEMPLATE } from '../packages/testkit/src/database.ts';
import pg from 'pg';
import { expect, test } from 'vitest';
import { migrate } from '@postroom/migrations';

const ROOT = join(import.meta.dirname, '..');
/** Where Debian puts each version. */
const FOLDER = '/usr/lib/postgresql';
const PASSWORD = 'postroom';
/** Integration tests whose statements depend on the version most: bulk writes, claims, cursors, JSON, searches, full migrations. */
const CORE = [
  'modules/campaigns/test/campaigns.integration',
  'modules/campaigns/test/claim.integration',
  'modules/contacts',
  'modules/emails',
  'modules/groups',
  'modules/ledger',
  'packages/migrations/test/migrate',
  'modules/webhooks/test/backlog.integration',
];

// The other integration tests run on version 18, which npm provides. CI installs 15.
const versions = ['15', '16', '17'].filter((version) => existsSync(join(FOLDER, version, 'bin/initdb')));

test.skipIf(versions.length === 0).each(versions)(
  'PostgreSQL %s: the migrations apply and the core integration tests pass',
  async (version) => {
    const server = await startServer(version);
    try {
      const url = `${server.url}/postroom`;
      await execute(`${server.url}/postgres`, 'CREATE DATABASE postroom');
      expect((await migrate(url)).length).toBeGreaterThan(10);
      await execute(`${server.url}/postgres`, `CREATE DATABASE ${TEMPLATE} TEMPLATE postroom`);
      // In a process that finds the services running, on this server.
      const tests = spawn(
        process.execPath,
        [join(ROOT, 'scripts/test.mjs'), '--project=integration', '--reporter=dot', ...CORE],
        { cwd: ROOT, env: { ...process.env, DATABASE_URL: url, REQUIRE_ALL: '' }, stdio: ['ignore', 'pipe', 'pipe'] },
      );
      let output = '';
      for (const stream of [tests.stdout, tests.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
      const status = await new Promise((resolve) => tests.once('close', resolve));
      expect(status, output.slice(-5_000)).toBe(0);
      const { rows } = await ask(url, `SELECT current_setting('server_version') AS version`);
      expect(rows[0]?.version).toMatch(new RegExp(`^${version}\\b`));
    } finally {
      await server.stop();
    }
  },
  600_000,
);

async function ask(url: string, text: string): Promise<pg.QueryResult<{ version: string }>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client.query(text).finally(() => client.end());
}

/** A server of this version, for one test. */
async function startServer(version: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const bin = join(FOLDER, version, 'bin');
  const folder = mkdtempSync(join(tmpdir(), `postroom-postgres-${version}-`));
  chmodSync(folder, 0o711);
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, PASSWORD);
  const user = serverUser();
  if (user !== undefined) spawnSync('chown', ['-R', `${user.uid}:${user.gid}`, data]);
  const as = { ...user, cwd: '/' };
  const made = spawnSync(
    join(bin, 'initdb'),
    [
      '-D',
      data,
      '-U',
      'postroom',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C.UTF-8',
    ],
    { ...as, encoding: 'utf8' },
  );
  expect(made.status, made.stderr).toBe(0);
  const [port = 0] = await freePorts(1);
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'fsync=off',
    'max_connections=300',
  ];
  const server = spawn(join(bin, 'postgres'), ['-D', data, ...settings.flatMap((setting) => ['-c', setting])], {
    ...as,
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => server.once('exit', resolve));
  const url = `postgresql://postroom:${PASSWORD}@127.0.0.1:${port}`;
  await expect
    .poll(
      () =>
        ask(`${url}/postgres`, 'SELECT 1').then(
          () => true,
          () => false,
        ),
      { timeout: 30_000 },
    )
    .toBe(true);
  return {
    url,
    stop: async () => {
      server.kill('SIGINT'); // a fast shutdown
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
