import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { secretColumns } from '@postroom/platform';
import { migrate } from '@postroom/migrations';
import { emptyDatabase, eventually, freePorts } from '@postroom/testkit';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import '../src/rest/idempotency.ts';
import '../src/schema.ts';

const [old, fresh] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
const BOTH = { POSTROOM_SECRET_KEY: fresh, POSTROOM_SECRET_KEY_PREVIOUS: old };

let db: pg.Client;
let databaseUrl: string;
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ url: databaseUrl, client: db, drop } = await emptyDatabase());
  await migrate(databaseUrl);
});

afterAll(() => drop());

interface Ended {
  code: number | null;
  output: string;
  // What the program sent.
  // oxlint-disable-next-line typescript/no-explicit-any
  sent: any;
}

/** Starts a program of this folder on the test's database with these keys. */
function start(program: string, keys: Record<string, string>, args: string[] = []): [ChildProcess, Promise<Ended>] {
  const child = fork(join(import.meta.dirname, program), args, {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      NODE_ENV: 'test',
      PUBLIC_URL: 'http://localhost',
      ...keys,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  let sent: unknown;
  child.stdout?.on('data', (chunk) => (output += chunk));
  child.stderr?.on('data', (chunk) => (output += chunk));
  child.on('message', (message) => (sent = message));
  return [child, new Promise((resolve) => child.once('close', (code) => resolve({ code, output, sent })))];
}

async function run(program: string, keys: Record<string, string>, args: string[] = []): Promise<Ended> {
  return start(program, keys, args)[1];
}

const read = (keys: Record<string, string>, outside: unknown) =>
  run('rotate-encryption-key.program.ts', keys, [JSON.stringify(outside)]);

const names = () =>
  secretColumns()
    .filter(({ table }) => table !== 'made_up')
    .map(({ table, column }) => `${table}.${column}`);

/** Every column of every table with a text that matches. */
async function columnsWith(pattern: string): Promise<string[]> {
  const { rows } = await db.query<{ table: string; column: string }>(
    `SELECT c.table_name AS table, c.column_name AS column FROM information_schema.columns c
     JOIN information_schema.tables t USING (table_schema, table_name)
     WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND t.table_name <> '_prisma_migrations'`,
  );
  const found: string[] = [];
  for (const { table, column } of rows) {
    const { rowCount } = await db.query(`SELECT 1 FROM "${table}" WHERE "${column}"::text ~ $1 LIMIT 1`, [pattern]);
    if (rowCount === 1) found.push(`${table}.${column}`);
  }
  return found.sort();
}

/** A connection for the test, whose locks end with it, also if it fails. */
async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

const SEALED = /"?(v[12]:|\$ba\$)/.source;

test(
  'after a killed run and a complete one, every secret is under the new key and reads as before',
  { timeout: 180_000 },
  async () => {
    const { sent: outside, output } = await run('rotate-encryption-key.program.ts', { POSTROOM_SECRET_KEY: old });
    expect(outside, output).toBeDefined();
    expect(await columnsWith('whsec_')).toEqual([]);
    // New secret columns must be added to the program above; no other column contains encrypted data.
    expect(await columnsWith(`^${SEALED}`)).toEqual(names().toSorted());
    const before = (await read({ POSTROOM_SECRET_KEY: old }, outside)).sent;
    expect(before.totp).toBe(outside.totp);
    // The format from before keys had names.
    await db.query(`UPDATE webhook_endpoints SET secret = 'v1:' || split_part(secret, ':', 3)`);
    await db.query(`UPDATE two_factors SET backup_codes = split_part(backup_codes, '$', 4)`);

    const dkimKeys = async () => (await db.query('SELECT private_key FROM dkim_keys')).rows;
    const dkimKeysBefore = await dkimKeys();

    // The run is killed while it waits for a locked row of the last column.
    const [table = ''] = (names().at(-1) ?? '').split('.');
    const holder = await connect();
    await holder.query('BEGIN');
    await holder.query(`SELECT FROM ${table} FOR UPDATE`);
    const [child, ended] = start('../src/rotate-encryption-key.ts', BOTH);
    await eventually(async () => {
      const { rows } = await db.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%UPDATE "${table}"%'`,
      );
      expect(rows).toHaveLength(1);
    }, 60_000);
    child.kill('SIGKILL');
    await ended;
    await holder.query('ROLLBACK');
    expect(await dkimKeys()).not.toEqual(dkimKeysBefore);

    const second = await run('../src/rotate-encryption-key.ts', BOTH);
    expect(second.output).toContain('dkim_keys.private_key: 0 re-encrypted');
    expect(second.output).toMatch(/Every secret is under the key [0-9a-f]{8}\./);
    expect(second.code).toBe(0);

    const after = (await read({ POSTROOM_SECRET_KEY: fresh }, outside)).sent;
    expect(after.secrets).toEqual(before.secrets);
    expect(after.totp).toBe(outside.totp);

    // Links in sent mail were made with the old key, which may no longer be configured.
    expect(before.links).toEqual({ unsubscribe: 200, returns: true });
    expect((await read(BOTH, outside)).sent.links).toEqual(before.links);
    expect(after.links).toEqual({ unsubscribe: 404, returns: false });
  },
);

/** Adds an endpoint whose secret is under an unknown key. */
async function addUnreadable(name: string): Promise<void> {
  await db.query(`INSERT INTO projects (id, name) VALUES ('prj_' || $1, 'x')`, [name]);
  await db.query(
    `INSERT INTO webhook_endpoints (id, project_id, url, events, secret, updated_at)
     VALUES ('whe_' || $1, 'prj_' || $1, 'https://example.com', '{*}', 'v2:00000000:AAAA', now())`,
    [name],
  );
}

test('with a key that decrypts nothing, the run names the missing setting, changes nothing and fails', async () => {
  await addUnreadable('x');
  const { code, output } = await run('../src/rotate-encryption-key.ts', BOTH);
  expect(output).toMatch(/webhook_endpoints\.secret: \d+ re-encrypted, 1 left/);
  expect(output).toMatch(/key 00000000, which is not in POSTROOM_SECRET_KEY .* and POSTROOM_SECRET_KEY_PREVIOUS/);
  expect(code).toBe(1);
  const { rows } = await db.query(`SELECT secret FROM webhook_endpoints WHERE id = 'whe_x'`);
  expect(rows).toEqual([{ secret: 'v2:00000000:AAAA' }]);
});

test('a gateway that cannot read the secrets reports them without delaying its start', async () => {
  await addUnreadable('y');
  await db.query(`UPDATE webhook_endpoints SET secret = 'v2:00000000:AAAA'`);
  const [port = 0] = await freePorts(1);
  const holder = await connect();
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE webhook_endpoints');
  const [child, ended] = start('../src/main.ts', { ...BOTH, GATEWAY_PORT: String(port), LOG_LEVEL: 'error' });
  let output = '';
  child.stdout?.on('data', (chunk) => (output += chunk));
  const [ready] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  expect(ready).toEqual({ ready: true });
  expect(output).not.toContain("can't read secrets");
  await holder.query('ROLLBACK');
  await eventually(() =>
    expect(output).toMatch(/can't read secrets in the database: webhook_endpoints\.secret: .*the key 00000000/),
  );
  child.kill('SIGTERM');
  expect((await ended).code).toBe(0);
}, 90_000);

test('the run locks rows in the order of their keys, so that it never waits in a circle with webhooks that fail', async () => {
  const secret = secretColumns().find(({ table, column }) => `${table}.${column}` === 'webhook_endpoints.secret');
  const ids = Array.from({ length: 50 }, (_, at) => `whe_order${String(at).padStart(2, '0')}`);
  const sealed = ids.map((id) => secret?.encrypt('whsec_x', id));
  await db.query(`INSERT INTO projects (id, name) VALUES ('prj_order', 'x')`);
  // The order in the table is not that of the keys.
  await db.query(
    `INSERT INTO webhook_endpoints (id, project_id, url, events, secret, updated_at)
     SELECT id, 'prj_order', 'https://example.com', '{*}', secret, now() FROM unnest($1::text[], $2::text[]) AS e(id, secret)
     ORDER BY id DESC`,
    [ids, sealed],
  );
  const holder = await connect();
  const lock = (id = '') => holder.query('SELECT FROM webhook_endpoints WHERE id = $1 FOR NO KEY UPDATE', [id]);
  await holder.query('BEGIN');
  await lock(ids[0]);
  const keys = { POSTROOM_SECRET_KEY: fresh, POSTROOM_SECRET_KEY_PREVIOUS: process.env.POSTROOM_SECRET_KEY ?? '' };
  const [, ended] = start('../src/rotate-encryption-key.ts', keys);
  await eventually(async () => {
    const { rows } = await db.query(
      `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%UPDATE "webhook_endpoints"%'`,
    );
    expect(rows).toHaveLength(1);
  }, 60_000);
  await lock(ids.at(-1));
  await holder.query('COMMIT');
  expect((await ended).output).toContain('webhook_endpoints.secret: 50 re-encrypted');
}, 180_000);
