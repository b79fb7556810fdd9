import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@postroom/testkit';
import { emptyDatabase } from '@postroom/testkit/database';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { migrate } from '../src/migrate.ts';

/** An empty database, dropped after the test. */
async function newDatabase() {
  const { url, client, drop } = await emptyDatabase();
  onTestFinished(drop);
  return { url, client };
}

/** A folder of migrations, in Prisma's format. */
async function folderOf(migrations: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), 'migrations-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, sql] of Object.entries(migrations)) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'migration.sql'), sql);
  }
  return folder;
}

test('of several that migrate an empty database at once, one works and the others find nothing to do', async () => {
  const { url } = await newDatabase();
  const applied = await Promise.all([migrate(url), migrate(url), migrate(url)]);
  const [first, ...others] = applied.sort((a, b) => b.length - a.length);
  expect(first?.[0]).toBe('20261121000000_init');
  expect(others).toEqual([[], []]);
  expect(await migrate(url)).toEqual([]);
});

test('migrations apply in the order of their names, and a later one alone when the others are there', async () => {
  const { url, client } = await newDatabase();
  const one = { '20260101000000_one': 'CREATE TABLE a (id int);' };
  const two = { '20260102000000_two': 'ALTER TABLE a ADD COLUMN name text;' };
  expect(await migrate(url, await folderOf(one))).toEqual(['20260101000000_one']);
  expect(await migrate(url, await folderOf({ ...two, ...one }))).toEqual(['20260102000000_two']);
  const { rows } = await client.query(
    'SELECT migration_name, finished_at IS NOT NULL AS finished FROM _prisma_migrations',
  );
  expect(rows).toEqual([
    { migration_name: '20260101000000_one', finished: true },
    { migration_name: '20260102000000_two', finished: true },
  ]);
});

test('a function is applied whole, semicolons and all', async () => {
  const { url, client } = await newDatabase();
  const body = `CREATE FUNCTION twice(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN n := n * 2; RETURN n; END $$;`;
  await migrate(url, await folderOf({ '20260101000000_function': body }));
  expect((await client.query('SELECT twice(21) AS n')).rows).toEqual([{ n: 42 }]);
});

test('a migration that fails is named with its line, leaves nothing of itself, and applies once it is repaired', async () => {
  const { url, client } = await newDatabase();
  const broken = { '20260101000000_broken': 'CREATE TABLE a (id int);\nCREATE TABLE b (id nonsense);' };
  await expect(migrate(url, await folderOf(broken))).rejects.toThrow(
    'Migration 20260101000000_broken failed and was rolled back: type "nonsense" does not exist (line 2 of migration.sql)',
  );
  expect((await client.query(`SELECT to_regclass('a') AS a`)).rows).toEqual([{ a: null }]);
  expect((await client.query('SELECT 1 FROM _prisma_migrations')).rowCount).toBe(0);
  const repaired = { '20260101000000_broken': 'CREATE TABLE a (id int);' };
  expect(await migrate(url, await folderOf(repaired))).toEqual(['20260101000000_broken']);
});

test('a migration changed after it was applied is refused by name, unless only its line endings changed', async () => {
  const { url } = await newDatabase();
  await migrate(url, await folderOf({ '20260101000000_one': 'CREATE TABLE a (\n  id int\n);\n' }));
  expect(
    await migrate(url, await folderOf({ '20260101000000_one': 'CREATE TABLE a (\r\n  id int\r\n);\r\n' })),
  ).toEqual([]);
  await expect(migrate(url, await folderOf({ '20260101000000_one': 'CREATE TABLE a (id bigint);' }))).rejects.toThrow(
    'Migration 20260101000000_one was changed after it was applied.',
  );
});

test("a migration that Prisma's own tool left half done is named, and nothing is applied after it", async () => {
  const { url, client } = await newDatabase();
  const one = { '20260101000000_one': 'CREATE TABLE a (id int);' };
  await migrate(url, await folderOf(one));
  await client.query('UPDATE _prisma_migrations SET finished_at = NULL');
  await expect(
    migrate(url, await folderOf({ ...one, '20260102000000_two': 'CREATE TABLE b (id int);' })),
  ).rejects.toThrow('Migration 20260101000000_one did not finish.');
  expect((await client.query(`SELECT to_regclass('b') AS b`)).rows).toEqual([{ b: null }]);
});

test('a migration that cannot lock its table gives way to the queries behind it, and tries again', async () => {
  const { url, client } = await newDatabase();
  await client.query('CREATE TABLE a (id int)');
  await client.query('BEGIN; SELECT FROM a'); // holds a lock that ALTER TABLE waits for
  const migrated = migrate(url, await folderOf({ '20260101000000_alter': 'ALTER TABLE a ADD COLUMN name text;' }));
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  await eventually(async () => {
    const { rows } = await other.query(`SELECT FROM pg_locks WHERE relation = 'a'::regclass AND NOT granted`);
    expect(rows).toHaveLength(1);
  });
  await other.query('SELECT FROM a'); // waits behind the migration until that gives way
  await client.query('COMMIT');
  expect(await migrated).toEqual(['20260101000000_alter']);
  await other.end();
});

test('an index is built concurrently, while others wait to migrate, and again after a failure', async () => {
  const { url, client } = await newDatabase();
  await client.query('CREATE TABLE a (id int); INSERT INTO a VALUES (1), (1)');
  const folder = await folderOf({
    '20260101000000_index': `-- postroom: no transaction
-- What an earlier try left is invalid.
DROP INDEX CONCURRENTLY IF EXISTS a_id_key;
CREATE UNIQUE INDEX CONCURRENTLY a_id_key ON a (id);
`,
  });
  await expect(migrate(url, folder)).rejects.toThrow(/20260101000000_index failed at "CREATE UNIQUE INDEX/);
  await client.query('DELETE FROM a');
  const applied = await Promise.all([migrate(url, folder), migrate(url, folder), migrate(url, folder)]);
  expect(applied.flat()).toEqual(['20260101000000_index']);
  const { rows } = await client.query(`SELECT indisvalid FROM pg_index WHERE indexrelid = 'a_id_key'::regclass`);
  expect(rows).toEqual([{ indisvalid: true }]);
});
