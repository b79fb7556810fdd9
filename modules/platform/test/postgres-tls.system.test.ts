import { spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { selfSigned } from '@postroom/network';
import { migrate } from '@postroom/migrations';

const BOUNCES = join(import.meta.dirname, '../../../apps/bounces/src/main.ts');
const databaseUrl = process.env.DATABASE_URL ?? '';
const folder = mkdtempSync(join(tmpdir(), 'postroom-postgres-tls-'));
const [server, stranger] = [selfSigned(), selfSigned()];
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text, { mode: 0o600 });
  return join(folder, name);
};
const urlWith = (parameters: Record<string, string>) =>
  `${databaseUrl}?${new URLSearchParams({ sslmode: 'verify-full', ...parameters }).toString()}`;

let admin: pg.Client;

/** The server of the tests begins to offer TLS, which changes nothing for those that don't ask for it. */
beforeAll(async () => {
  admin = new pg.Client({ connectionString: databaseUrl });
  await admin.connect();
  const { rows } = await admin.query<{ folder: string }>(`SELECT current_setting('data_directory') AS folder`);
  const { uid, gid } = statSync(rows[0]?.folder ?? '');
  chmodSync(folder, 0o755);
  for (const [setting, path] of [
    ['ssl_cert_file', file('server.pem', server.cert)],
    ['ssl_key_file', file('server.key', server.key)],
  ] as const) {
    if (process.getuid?.() === 0) chownSync(path, uid, gid);
    await admin.query(`ALTER SYSTEM SET ${setting} = '${path}'`);
  }
  await admin.query('ALTER SYSTEM SET ssl = on');
  await reload();
  await vi.waitUntil(async () => (await admin.query<{ ssl: string }>('SHOW ssl')).rows[0]?.ssl === 'on', 10_000);
});

afterAll(async () => {
  for (const setting of ['ssl', 'ssl_cert_file', 'ssl_key_file']) await admin.query(`ALTER SYSTEM RESET ${setting}`);
  await reload();
  await admin.end();
  rmSync(folder, { recursive: true });
});

const reload = () => admin.query('SELECT pg_reload_conf()');

test('with sslmode=verify-full every connection of a program is encrypted, and migrations are too', async () => {
  const url = urlWith({ sslrootcert: file('ca.pem', server.cert) });
  expect(await migrate(url)).toEqual([]);
  const program = bounces(url);
  await program.ready;
  const { rows } = await admin.query<{ ssl: boolean }>(
    `SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
       WHERE application_name = 'postroom-bounces' AND client_port IS NOT NULL AND backend_start > now() - interval '1 minute'`,
  );
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.filter(({ ssl }) => !ssl)).toEqual([]);
  program.stop();
  expect(await program.exit).toBe(0);
});

test('a server whose certificate the CA did not sign, or whose name is another, is refused', async () => {
  const strangers = file('other-ca.pem', stranger.cert);
  await expect(migrate(urlWith({ sslrootcert: strangers }))).rejects.toThrow(/self-signed certificate|signature/);
  const program = bounces(urlWith({ sslrootcert: strangers }));
  expect(await program.exit).toBe(1);
  expect(program.output()).toMatch(/certificate|signature/);
  const elsewhere = urlWith({ sslrootcert: file('ca.pem', server.cert) }).replace('@127.0.0.1:', '@127.0.0.2:');
  await expect(migrate(elsewhere)).rejects.toThrow(/altnames|ECONNREFUSED/);
});

/** The bounce server as a program: the smallest one. */
function bounces(url: string) {
  const child = spawn(process.execPath, [BOUNCES], {
    env: { ...process.env, LOG_LEVEL: 'warn', DATABASE_URL: url, BOUNCE_SMTP_PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  return {
    exit: new Promise<number | null>((resolve) => child.once('close', resolve)),
    ready: new Promise((resolve) => child.once('message', resolve)),
    output: () => output,
    stop: () => child.kill('SIGTERM'),
  };
}
