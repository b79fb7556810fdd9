import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { newId } from '@postroom/platform';
import { createDatabase, eventually } from '@postroom/testkit';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';

test('kill -9 at each step of an export loses no event and repeats none', { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'event-export-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const database = await createDatabase('export');
  onTestFinished(() => database.drop());
  const db = new pg.Client({ connectionString: database.url });
  await db.connect();
  onTestFinished(() => db.end());
  const projectId = newId('prj');
  await db.query('INSERT INTO projects (id, name) VALUES ($1, $1)', [projectId]);
  /** Seven transactions of eight events. */
  const add = async () => {
    for (let nth = 0; nth < 7; nth++)
      await db.query(
        `INSERT INTO events (id, project_id, type, data) SELECT postroom_id('evt'), $1, 'email.sent', '{}' FROM generate_series(1, 8)`,
        [projectId],
      );
  };
  const run = async (killAt: number) => {
    const child = fork(
      join(import.meta.dirname, 'event-export.program.ts'),
      [projectId, pathToFileURL(folder).href, String(killAt)],
      { env: { ...process.env, DATABASE_URL: database.url } },
    );
    return (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  };
  const read = async (what: string) => {
    const connection = await (await DuckDBInstance.create()).connect();
    const files = join(folder, 'events', projectId, '*.parquet');
    const reader = await connection.runAndReadAll(`SELECT ${what} FROM read_parquet('${files}')`);
    return reader.getRows()[0]?.map(Number);
  };
  for (const killAt of [1, 2, 3, 4, 5]) {
    await add();
    expect(await run(killAt)).toEqual([null, 'SIGKILL']);
  }
  // Transactions of other tests may delay it, as all that began before must have ended.
  await eventually(async () => {
    expect(await run(0)).toEqual([0, null]);
    expect(await read('count(*), count(DISTINCT id)')).toEqual([280, 280]);
  }, 60_000);
});
