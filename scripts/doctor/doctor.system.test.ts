import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSigned } from '@postroom/platform';
import { startSmtpSink } from '@postroom/testkit';
import { createDatabase, execute } from '@postroom/testkit/database';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runChecks } from './checks.ts';

const POSTROOM = join(import.meta.dirname, '../../bin/postroom.mjs');

const statuses = async (env: NodeJS.ProcessEnv) =>
  Object.fromEntries((await runChecks(env)).map(({ check, status }) => [check, status]));

test('doctor passes every dependency of a working installation', async () => {
  const sink = await startSmtpSink();
  const found = await statuses({ ...process.env, SMTP_URL: sink.url, GATEWAY_PORT: '0' });
  expect(found).toMatchObject({
    Settings: 'ok',
    'Settings of the gateway': 'ok',
    'Settings of the worker': 'ok',
    'Encryption key': 'ok',
    Database: 'ok',
    Migrations: 'ok',
    'Database grant': 'ok',
    Sending: 'ok',
    Journals: 'ok',
    'Mail transport': 'ok',
  });
  await sink.close();
});

test('doctor names each broken dependency and says what to do about it', async () => {
  const results = await runChecks({
    NODE_ENV: 'production',
    DATABASE_URL: 'postgresql://postgres@127.0.0.1:9/none',
    TEMPORAL_ADDRESS: '127.0.0.1:9',
    SMTP_URL: 'smtp://127.0.0.1:9',
    DNS_SERVERS: '127.0.0.1:9',
  });
  const broken = results.filter(({ status }) => status === 'failed');
  expect(broken.map(({ check }) => check)).toEqual([
    'Settings of the gateway',
    'Settings of the worker',
    'Public URL',
    'Encryption key',
    'Database',
    'Migrations',
    'Database grant',
    'Sending',
    'Temporal',
    'DNS',
    'Mail transport',
  ]);
  for (const { fix } of broken) expect(fix).toMatch(/^[A-Z].*/);
});

test('doctor finds an expired certificate, an unreadable key, and a journal that workers cannot write', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-doctor-'));
  const { cert, key } = selfSigned('ec', [-3, -1]);
  writeFileSync(join(folder, 'tls.crt'), cert);
  writeFileSync(join(folder, 'tls.key'), key);
  const results = await runChecks(
    {
      DATABASE_URL: 'postgresql://postgres@127.0.0.1:9/none',
      TEMPORAL_ADDRESS: '127.0.0.1:9',
      DNS_SERVERS: '127.0.0.1:9',
      SUBMISSION_TLS_CERT: join(folder, 'tls.crt'),
      SUBMISSION_TLS_KEY: join(folder, 'tls.key'),
      BOUNCE_TLS_CERT: join(folder, 'tls.crt'),
      BOUNCE_TLS_KEY: join(folder, 'none.key'),
      SENDING_JOURNAL: join(folder, 'none'),
    },
    undefined,
    ['worker', 'submission', 'bounces'],
  );
  const detailOf = (name: string) => results.find(({ check, status }) => check === name && status === 'failed')?.detail;
  expect(detailOf('TLS certificate for submission')).toContain('expired on');
  expect(detailOf('TLS certificate for bounces')).toContain("BOUNCE_TLS_KEY: can't be read");
  expect(detailOf('Journals')).toContain('SENDING_JOURNAL: ');
});

test('doctor names every invalid setting, and stops there', async () => {
  const results = await runChecks({ GATEWAY_PORT: 'x', DATABASE_URL: 'mysql://h' });
  expect(results).toHaveLength(1);
  expect(results[0]).toMatchObject({ check: 'Settings', status: 'failed' });
  expect(results[0]?.detail).toMatch(/DATABASE_URL[\s\S]*GATEWAY_PORT|GATEWAY_PORT[\s\S]*DATABASE_URL/);
});

test('doctor checks what the named programs need, and nothing else', async () => {
  const env = {
    NODE_ENV: 'production',
    DATABASE_URL: 'postgresql://postgres@127.0.0.1:9/none',
    DNS_SERVERS: '127.0.0.1:9',
  };
  const results = await runChecks(env, undefined, ['submission']);
  expect(results.map(({ check, status }) => [check, status])).toEqual([
    ['Settings', 'ok'],
    ['Settings of the submission', 'failed'],
    ['Database', 'failed'],
    ['Migrations', 'failed'],
  ]);
  expect(results[1]?.detail).toContain('SUBMISSION_TLS_CERT: is required');
});

test("a clock that is an hour ahead of PostgreSQL's is a warning", async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
  const results = await runChecks({ ...process.env, TEMPORAL_ADDRESS: '127.0.0.1:9' });
  const found = results.find(({ check }) => check === 'Database');
  expect(found).toMatchObject({ status: 'warning', fix: expect.stringMatching(/NTP/) });
  expect(found?.detail).toMatch(/^the clock of this machine is 3[56]\d\d seconds ahead of PostgreSQL's$/);
});

test('a database that can be read but not written fails', async () => {
  const database = await createDatabase('doctor');
  onTestFinished(database.drop);
  await execute(database.url, `ALTER DATABASE "${database.name}" SET default_transaction_read_only = on`);
  const results = await runChecks({
    ...process.env,
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: '127.0.0.1:9',
  });
  const found = results.find(({ check }) => check === 'Database');
  expect(found).toMatchObject({ status: 'failed', detail: expect.stringContaining('but not written: cannot execute') });
});

test('a role that may not skip triggers is a warning, because no project can be deleted', async () => {
  const database = await createDatabase('doctor');
  const role = `${database.name}_app`;
  await execute(database.url, `CREATE ROLE "${role}" LOGIN PASSWORD 'app'`);
  onTestFinished(async () => {
    await execute(database.url, `DROP ROLE "${role}"`);
    await database.drop();
  });
  const url = Object.assign(new URL(database.url), { username: role, password: 'app' });
  const grant = async () => {
    const results = await runChecks({ ...process.env, DATABASE_URL: url.href, TEMPORAL_ADDRESS: '127.0.0.1:9' });
    return results.find(({ check }) => check === 'Database grant');
  };
  expect(await grant()).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('no project can be deleted'),
  });
  await execute(database.url, `GRANT SET ON PARAMETER session_replication_role TO "${role}"`);
  expect(await grant()).toMatchObject({ status: 'ok' });
  await execute(database.url, `REVOKE SET ON PARAMETER session_replication_role FROM "${role}"`);
});

test('a key file that others can read is a warning', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'postroom-doctor-')), 'secret.key');
  writeFileSync(file, Buffer.alloc(32, 7).toString('base64'), { mode: 0o644 });
  const found = await statuses({ POSTROOM_KEY_FILE: file, NODE_ENV: 'test', TEMPORAL_ADDRESS: '127.0.0.1:9' });
  expect(found['Encryption key']).toBe('warning');
});

test('`postroom --help` lists every command and builds nothing', () => {
  const { stdout, status } = spawnSync(process.execPath, [POSTROOM, '--help'], { encoding: 'utf8' });
  expect(status).toBe(0);
  for (const command of [
    'start',
    'stop',
    'demo',
    'migrate',
    'gateway',
    'worker',
    'chaos',
    'rotate-encryption-key',
    'mcp',
    'doctor',
  ])
    expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'));
});

test('an unknown command is named, with the usage', () => {
  const { stderr, status } = spawnSync(process.execPath, [POSTROOM, 'strat'], { encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toContain('unknown command "strat"');
});

test('`postroom migrate` without DATABASE_URL says what to set', () => {
  const { DATABASE_URL: _, ...env } = process.env;
  const { stderr, status } = spawnSync(process.execPath, [POSTROOM, 'migrate'], { encoding: 'utf8', env });
  expect(status).toBe(1);
  expect(stderr).toContain('DATABASE_URL');
});
