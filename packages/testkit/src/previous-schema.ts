import { cp, mkdtemp, rm } from 'node:fs/promises';
import { globSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { migrate } from '@postroom/migrations';
import { onTestFinished } from 'vitest';
import { type EmptyDatabase, emptyDatabase } from './database.ts';

const MODULES = join(import.meta.dirname, '../../../modules');

/** A database with the migrations before one of them, which is given by its name. It exists until the test is finished. */
export async function databaseBefore(migration: string): Promise<EmptyDatabase> {
  const database = await emptyDatabase();
  onTestFinished(database.drop);
  const folder = await mkdtemp(join(tmpdir(), 'migrations-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const file of globSync('*/migrations/*/migration.sql', { cwd: MODULES })) {
    const name = basename(dirname(file));
    if (name < migration) await cp(join(MODULES, dirname(file)), join(folder, name), { recursive: true });
  }
  await migrate(database.url, folder);
  return database;
}
