import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { MIGRATIONS_DIR, migrationsOf, readMigrations } from '@postroom/migrations';
import { currentSchema, diffSql, type SchemaFile } from './schema-diff.ts';

const USAGE = `Usage: npm run db:migration -- <name> [--module <module>] [--empty]

Writes modules/<module>/migrations/<time>_<name>/migration.sql with the changes in modules/*/schema.prisma since the
last migration. Without --module it goes to modules/platform, which suits changes to several modules. With --empty the
file is written even without changes, to be filled in by hand (functions, triggers, indexes that Prisma can't express).`;

/**
 * The schema as the last migration left it, so that the next one can be derived from files alone. It is not named
 * .prisma, because Prisma reads every such file below modules/.
 */
export const SNAPSHOT = 'schema.snapshot';

/** The schema as of the last migration of a folder; `undefined` before the first one. */
export async function readSnapshot(migrationsDir = MIGRATIONS_DIR): Promise<SchemaFile[] | undefined> {
  const path = join(migrationsDir, SNAPSHOT);
  return existsSync(path) ? [{ path: 'snapshot.prisma', content: await readFile(path, 'utf8') }] : undefined;
}

/** Writes the next migration and returns the path of its folder, or `undefined` when there is nothing to write. */
export async function writeMigration(
  name: string,
  options: { empty?: boolean; module?: string; schema?: SchemaFile[]; migrationsDir?: string; now?: Date } = {},
): Promise<string | undefined> {
  const { empty = false, module, migrationsDir = MIGRATIONS_DIR, now = new Date() } = options;
  const schema = options.schema ?? (await currentSchema());
  const sql = await diffSql(await readSnapshot(migrationsDir), schema);
  if (sql === '' && !empty) return undefined;
  const parent = module === undefined ? migrationsDir : migrationsOf(module);
  const folder = join(parent, `${await nextTimestamp(options.migrationsDir, now)}_${name}`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'migration.sql'), sql);
  await writeFile(join(migrationsDir, SNAPSHOT), snapshotOf(schema));
  return folder;
}

/** Comments do not affect the database, and would make every snapshot differ. */
function snapshotOf(schema: SchemaFile[]): string {
  const withoutComments = schema.map(({ content }) => content.replace(/^\s*\/\/.*\n/gm, '').trim());
  return withoutComments.join('\n\n') + '\n';
}

/** The time in UTC to the second, or one second after the last migration, so that names sort in the order of creation. */
async function nextTimestamp(migrationsDir: string | undefined, now: Date): Promise<string> {
  const last = (await readMigrations(migrationsDir)).at(-1)?.name.match(/^\d{14}/)?.[0] ?? '';
  const timestamp = toTimestamp(now);
  return timestamp > last ? timestamp : toTimestamp(new Date(fromTimestamp(last).getTime() + 1000));
}

function toTimestamp(time: Date): string {
  return time.toISOString().replace(/\D/g, '').slice(0, 14);
}

function fromTimestamp(timestamp: string): Date {
  return new Date(timestamp.replace(/^(....)(..)(..)(..)(..)(..)$/, '$1-$2-$3T$4:$5:$6Z'));
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { empty: { type: 'boolean' }, module: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  const name = positionals
    .join('_')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  if (values.help || name === '') {
    console.log(USAGE);
    return values.help ? 0 : 1;
  }
  const folder = await writeMigration(name, { empty: values.empty, module: values.module });
  console.log(
    folder
      ? `Wrote ${relative(process.cwd(), folder)}/migration.sql`
      : 'Nothing to do: the migrations already produce this schema.',
  );
  return 0;
}

if (import.meta.main) process.exitCode = await main();
