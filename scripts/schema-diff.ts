import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';

/** One Prisma schema file; several are read as one schema. */
export interface SchemaFile {
  path: string;
  content: string;
}

/** The part we use; the full type is in the DOM library, which server code does not include. */
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: { __wbindgen_start(): void } } }>;
};

const ROOT = join(import.meta.dirname, '..');

/** The modules' current schema. */
export async function currentSchema(): Promise<SchemaFile[]> {
  const paths = globSync('modules/*/schema.prisma', { cwd: ROOT }).sort();
  return Promise.all(
    paths.map(async (path) => ({
      path: path.replaceAll('\\', '/'),
      content: await readFile(join(ROOT, path), 'utf8'),
    })),
  );
}

/**
 * The SQL that migrates a database from the schema `from` (default: an empty database) to the schema `to`; an empty string if
 * they are equal. It needs neither a database nor Prisma's engine binary.
 */
export async function diffSql(from: SchemaFile[] | undefined, to: SchemaFile[]): Promise<string> {
  const engine = await openEngine(to, noDatabase);
  try {
    const { stdout } = await engine.diff({
      from: from ? { tag: 'schemaDatamodel', files: from } : { tag: 'empty' },
      to: { tag: 'schemaDatamodel', files: to },
      script: true,
      exitCode: null,
      filters: { externalTables: [], externalEnums: [] },
    });
    return stdout === null || stdout.startsWith('-- This is an empty migration') ? '' : stdout.trim() + '\n';
  } finally {
    engine.free();
  }
}

/** What Prisma's engine reports about a migrated database: whether its history matches the folder. */
export async function diagnoseHistory(
  databaseUrl: string,
  baseDir: string,
  migrations: { name: string; sql: string }[],
) {
  const engine = await openEngine(undefined, bindMigrationAwareSqlAdapterFactory(new PrismaPg(databaseUrl)));
  try {
    return await engine.diagnoseMigrationHistory({
      migrationsList: {
        baseDir,
        lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"' },
        shadowDbInitScript: '',
        migrationDirectories: migrations.map(({ name, sql }) => ({
          path: name,
          migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: sql } },
        })),
      },
      optInToShadowDatabase: false,
      filters: { externalTables: [], externalEnums: [] },
    });
  } finally {
    engine.free();
  }
}

async function openEngine(schema: SchemaFile[] | undefined, database: object) {
  engineModule ??= loadEngine();
  const { SchemaEngine } = await engineModule;
  const datamodels = schema?.map(({ path, content }): [string, string] => [path, content]);
  return SchemaEngine.new({ datamodels }, () => undefined, database);
}

let engineModule: ReturnType<typeof loadEngine> | undefined;

/** Loads the WebAssembly build by hand, because Node can't yet import `.wasm` without a warning. */
async function loadEngine() {
  const glue = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const loaded = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const { instance } = await WebAssembly.instantiate(await readFile(join(dirname(glue), 'schema_engine_bg.wasm')), {
    './schema_engine_bg.js': loaded,
  });
  loaded.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  return loaded;
}

/**
 * The engine requires a database even to compare two files. It gets one that returns no rows to any query; a comparison only
 * queries the server's version.
 */
const noDatabase = (() => {
  const answer = <T>(value: T) => ({
    ok: true,
    value,
    map: <R>(to: (value: T) => R) => answer(to(value)),
    flatMap: <R>(to: (value: T) => R) => to(value),
  });
  const base = { provider: 'postgres', adapterName: 'none' };
  const connection = {
    ...base,
    queryRaw: async () => answer({ columnNames: [], columnTypes: [], rows: [] }),
    executeRaw: async () => answer(0),
    executeScript: async () => answer(undefined),
    getConnectionInfo: () => answer({ schemaName: 'public', supportsRelationJoins: true }),
    dispose: async () => answer(undefined),
  };
  return { ...base, connect: async () => answer(connection), connectToShadowDb: async () => answer(connection) };
})();
