import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { migrate, MIGRATIONS_DIR, readMigrations } from '@postroom/migrations';
import type pg from 'pg';
import { emptyDatabase } from '@postroom/testkit/database';
import { expect, onTestFinished, test } from 'vitest';
import { readSnapshot, writeMigration } from './db-migration.ts';
import { currentSchema, diagnoseHistory, diffSql, type SchemaFile } from './schema-diff.ts';

/** An empty database, dropped after the test. */
async function newDatabase() {
  const { url, client, drop } = await emptyDatabase();
  onTestFinished(drop);
  return { url, client };
}

test('the schema of the modules has no change that a migration lacks', async () => {
  expect(await diffSql(await readSnapshot(), await currentSchema())).toBe('');
});

const COLUMNS = `
  SELECT format('%s.%s %s%s%s', t.relname, a.attname, format_type(a.atttypid, a.atttypmod),
                CASE WHEN a.attnotnull THEN ' NOT NULL' END, ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid)) AS line
    FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = t.oid AND d.adnum = a.attnum
   WHERE t.relnamespace = 'public'::regnamespace AND t.relkind IN ('r', 'p') AND NOT t.relispartition AND t.relname <> '_prisma_migrations' ORDER BY 1`;
const ENUMS = `
  SELECT format('%s: %s', t.typname, string_agg(e.enumlabel, ', ' ORDER BY e.enumsortorder)) AS line
    FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid GROUP BY t.typname ORDER BY 1`;
/** Without storage parameters, which are set by hand; those of partitioned tables are `ON ONLY`. */
const INDEXES = `
  SELECT replace(regexp_replace(indexdef, ' WITH \\(.*?\\)', ''), ' ON ONLY ', ' ON ') AS line FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1`;
const CONSTRAINTS = `
  SELECT format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS line
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype IN ('p', 'f', 'u') ORDER BY 1`;

async function linesOf(client: pg.Client, query: string): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(query);
  return rows.map(({ line }) => line);
}

/** Each partition has its own, for which triggers make sure that rows of one campaign are in one partition. */
const OF_PARTITIONS = 'messages_contact_id_campaign_id_key';

/** Partitioned tables have triggers in place of foreign keys: see docs/decisions/partitions.md. */
const REPLACED_BY_TRIGGERS = [
  'attempts_delivery_id_fkey',
  'deliveries_endpoint_id_fkey',
  'deliveries_event_id_fkey',
  'deliveries_project_id_fkey',
  'message_attachments_message_id_fkey',
  'message_contents_message_id_fkey',
];

test('the migrations create the tables, types, indexes and references of the schema', async () => {
  const [migrated, wanted] = await Promise.all([newDatabase(), newDatabase()]);
  await migrate(migrated.url);
  await wanted.client.query(await diffSql(undefined, await currentSchema()));
  for (const query of [COLUMNS, ENUMS]) {
    expect(await linesOf(migrated.client, query)).toEqual(await linesOf(wanted.client, query));
  }
  // Indexes that Prisma can't express are written by hand, so extra ones are allowed; none may be missing.
  for (const query of [INDEXES, CONSTRAINTS]) {
    const expected = (await linesOf(wanted.client, query)).filter(
      (line) =>
        !line.includes(` ${OF_PARTITIONS} `) &&
        !REPLACED_BY_TRIGGERS.some((name) => line.includes(` ${name} FOREIGN KEY `)),
    );
    expect(await linesOf(migrated.client, query)).toEqual(expect.arrayContaining(expected));
  }
});

test("Prisma's own engine finds the history of a migrated database in order", async () => {
  const { url } = await newDatabase();
  await migrate(url);
  expect(await diagnoseHistory(url, MIGRATIONS_DIR, await readMigrations())).toEqual({
    hasMigrationsTable: true,
    failedMigrationNames: [],
    editedMigrationNames: [],
    history: null,
  });
});

const schemaOf = (fields: string): SchemaFile[] => [
  {
    path: 'schema.prisma',
    content: `datasource db {\n  provider = "postgresql"\n}\n\n/// People.\nmodel Person {\n  id String @id\n${fields}}\n`,
  },
];

async function emptyFolder() {
  const migrationsDir = await mkdtemp(join(tmpdir(), 'db-migration-'));
  onTestFinished(() => rm(migrationsDir, { recursive: true, force: true }));
  return migrationsDir;
}

test('each migration contains the changes since the previous one', async () => {
  const migrationsDir = await emptyFolder();
  const now = new Date('2026-11-21T10:20:30Z');
  const first = await writeMigration('init', { schema: schemaOf(''), migrationsDir, now });
  expect(basename(first ?? '')).toBe('20261121102030_init');
  expect(await readFile(join(first ?? '', 'migration.sql'), 'utf8')).toContain('CREATE TABLE "Person"');

  const second = await writeMigration('name', { schema: schemaOf('  name String?\n'), migrationsDir, now });
  expect(basename(second ?? ''), 'two in one second keep their order').toBe('20261121102031_name');
  expect(await readFile(join(second ?? '', 'migration.sql'), 'utf8')).toBe(
    '-- AlterTable\nALTER TABLE "Person" ADD COLUMN     "name" TEXT;\n',
  );
});

test('nothing is written when only a comment changed, unless an empty migration is requested', async () => {
  const migrationsDir = await emptyFolder();
  await writeMigration('init', { schema: schemaOf(''), migrationsDir });
  const commented = schemaOf('  /// What people call them.\n');
  expect(await writeMigration('comment', { schema: commented, migrationsDir })).toBeUndefined();
  const byHand = await writeMigration('by_hand', { empty: true, schema: commented, migrationsDir });
  expect(await readFile(join(byHand ?? '', 'migration.sql'), 'utf8')).toBe('');
  expect((await readdir(migrationsDir)).length).toBe(3);
});
