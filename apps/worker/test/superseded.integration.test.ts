import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId, READ_ONLY, SUPERSEDED } from '@postroom/platform';
import { createDatabase, type TestDatabase } from '@postroom/testkit/database';
import { useDatabase } from '@postroom/testkit/own-database';
import { trackingToken } from '@postroom/tracking';
import pg from 'pg';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';

const REASON =
  'Another database has taken over since epoch 1. If this one is the primary from before a failover, stop it.';

let database: TestDatabase;
let client: pg.Client;
let close: () => Promise<void>;
beforeEach(async () => {
  database = await createDatabase('superseded');
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  close = useDatabase(database.url);
});
afterEach(async () => {
  await client.end();
  await close();
  await database.drop();
});

const hold = (reason: string | null) => client.query('UPDATE installation SET held_reason = $1', [reason]);
const addProject = (id: string = newId('prj')) =>
  client.query('INSERT INTO projects (id, name) VALUES ($1, $1)', [id]).then(
    () => id,
    ({ code }: { code: string }) => code,
  );
const problem = async () => (await client.query('SELECT database_problem() AS problem')).rows[0].problem;

/** Tables that still accept changes, of those that the fence is for. */
async function openTables(): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
     AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND tgname = 'a_superseded') ORDER BY name`,
  );
  return rows.map(({ name }) => name);
}

test('a superseded database refuses changes of every table, those that readers need excepted, also after an interruption', async () => {
  const { fenceSuperseded } = await import('../src/superseded.ts');
  expect(await problem()).toBeNull();
  await hold(REASON);
  expect(await problem()).toBe(REASON);
  await fenceSuperseded(REASON);
  expect(await addProject()).toBe(SUPERSEDED);
  expect(await openTables()).toEqual([
    'installation',
    'leases',
    'sending_reservations',
    'sessions',
    'shared_rates',
    'shared_slots',
    'sign_in_failures',
    'sign_in_rates',
    'verifications',
  ]);
  await client.query('DROP TRIGGER a_superseded ON projects'); // as if it had been killed before
  expect(await addProject()).toMatch(/^prj_/);
  await fenceSuperseded(REASON);
  expect(await addProject()).toBe(SUPERSEDED);
});

test('the fence has no effect once the database is held for another reason, and can be removed', async () => {
  const { dropFence, fenceSuperseded } = await import('../src/superseded.ts');
  await hold(REASON);
  await fenceSuperseded(REASON);
  await hold('The database was restored to an earlier time.');
  expect(await problem()).toBeNull();
  expect(await addProject()).toMatch(/^prj_/);
  await hold(null);
  await client.query('UPDATE installation SET epoch = 2');
  const later = REASON.replace('epoch 1', 'epoch 2');
  await hold(later);
  await fenceSuperseded(later);
  expect(await addProject()).toBe(SUPERSEDED);
  await hold(null);
  expect(await dropFence()).toBeGreaterThan(80);
  expect(await dropFence()).toBe(0);
});

test('a table that is locked keeps no other table waiting', { timeout: 60_000 }, async () => {
  const { fenceSuperseded } = await import('../src/superseded.ts');
  await hold(REASON);
  const writer = new pg.Client({ connectionString: database.url });
  await writer.connect();
  await writer.query('BEGIN');
  await writer.query('DELETE FROM imports');
  await fenceSuperseded(REASON);
  expect(await openTables()).toContain('imports');
  expect(await addProject()).toBe(SUPERSEDED);
  await writer.query('COMMIT');
  await writer.end();
  await fenceSuperseded(REASON);
  expect(await openTables()).not.toContain('imports');
});

async function makeSuperseded(): Promise<void> {
  const { fenceSuperseded } = await import('../src/superseded.ts');
  await hold(REASON);
  await fenceSuperseded(REASON);
}

async function makeReadOnly(): Promise<void> {
  await client.query(`ALTER DATABASE ${database.name} SET default_transaction_read_only = on`);
  await client.end();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
}

test.each([
  { state: 'superseded', make: makeSuperseded, code: SUPERSEDED, why: REASON },
  { state: 'read-only', make: makeReadOnly, code: READ_ONLY, why: 'The database is read-only.' },
])('a tracked link redirects while the database is $state, and the hit is lost', async ({ make, code, why }) => {
  const id = newId('eml');
  const projectId = await addProject();
  await client.query(`INSERT INTO messages (id, project_id, email) VALUES ($1, $2, 'a@mail.test')`, [id, projectId]);
  await client.query(`INSERT INTO tracked_links (owner_id, position, url) VALUES ($1, 0, 'https://shop.example/')`, [
    id,
  ]);
  await make();
  expect(await addProject()).toBe(code);
  expect(await problem()).toBe(why);
  const { startTracking } = await import('@postroom/tracking');
  const tracking = startTracking();
  const server = createServer((request, response) => void tracking.answer(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const answer = (path: string) => fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual' });
  const followed = await answer(`/t/c/${trackingToken(id)}.0`);
  expect([followed.status, followed.headers.get('Location')]).toEqual([302, 'https://shop.example/']);
  expect((await answer(`/t/o/${trackingToken(id)}`)).status).toBe(200);
  await tracking.stop();
  server.closeAllConnections();
  server.close();
});

test('a journal whose next epoch was announced by no one yet, as after a crash, names no successor, and names it afterwards', async () => {
  const { findSuccessor, journalWitness, setWitnesses } = await import('@postroom/ledger');
  const folder = mkdtempSync(join(tmpdir(), 'postroom-epoch-'));
  onTestFinished(() => {
    setWitnesses([]);
    rmSync(folder, { recursive: true });
  });
  await client.query('UPDATE installation SET epoch = 1, number = 1');
  await client.query(`INSERT INTO campaigns (id, project_id, name) VALUES ('cmp_1', $1, 'News')`, [await addProject()]);
  setWitnesses([journalWitness(folder)]);
  writeFileSync(join(folder, 'epoch-2'), '');
  expect(await findSuccessor()).toBeUndefined();
  const until = new Date().toISOString();
  await journalWitness(folder).announce([{ scope: 'installation', position: '', until, epoch: 2, number: 2 }]);
  expect(await findSuccessor()).toBe(REASON);
});
