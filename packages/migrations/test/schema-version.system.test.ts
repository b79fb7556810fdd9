import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { emptyDatabase } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { migrate, migrationNames } from '../src/migrate.ts';
import { pendingMigrations } from '../src/schema-version.ts';

const ROOT = join(import.meta.dirname, '../../..');

test('pending migrations are those that the database has not finished, in order', async () => {
  const database = await emptyDatabase();
  const names = await migrationNames();
  expect((await pendingMigrations(database.client)).slice(0, names.length)).toEqual(names);
  await migrate(database.url);
  expect(await pendingMigrations(database.client)).toEqual([]);
  await database.client.query('UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = $1', [names[3]]);
  expect(await pendingMigrations(database.client)).toEqual([names[3]]);
  await database.client.query('UPDATE _prisma_migrations SET finished_at = now()');
  await database.client.query(`UPDATE data_migrations SET finished_at = NULL WHERE name = 'derived_names'`);
  expect(await pendingMigrations(database.client)).toEqual(['derived_names']);
  await database.client.query('UPDATE data_migrations SET finished_at = now()');
  // What a newer version has added is no obstacle to an older one.
  await database.client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('x', 'x', '99990101000000_newer', now())`,
  );
  expect(await pendingMigrations(database.client)).toEqual([]);
  await database.drop();
});

test('a program refuses an older schema and names the migration, or waits for it', async () => {
  const database = await emptyDatabase();
  const refused = bounces(database.url, '0');
  expect(await refused.exit).toBe(1);
  expect(refused.output()).toContain(`the first is ${(await migrationNames())[0]}`);
  expect(refused.output()).toContain('postroom migrate');
  const waiting = bounces(database.url, '60');
  await migrate(database.url);
  await waiting.ready;
  waiting.stop();
  expect(await waiting.exit).toBe(0);
  await database.drop();
}, 60_000);

/** The bounce server as a program: the smallest one. */
function bounces(databaseUrl: string, waitSeconds: string) {
  const env = {
    ...process.env,
    LOG_LEVEL: 'warn',
    DATABASE_URL: databaseUrl,
    MIGRATION_WAIT_SECONDS: waitSeconds,
    BOUNCE_SMTP_PORT: '0',
  };
  const child = spawn(process.execPath, [join(ROOT, 'apps/bounces/src/main.ts')], {
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  child.stdout?.on('data', (chunk) => (output += String(chunk)));
  child.stderr?.on('data', (chunk) => (output += String(chunk)));
  return {
    exit: new Promise<number | null>((resolve) => child.once('close', resolve)),
    ready: new Promise((resolve) => child.once('message', resolve)),
    output: () => output,
    stop: () => child.kill('SIGTERM'),
  };
}
