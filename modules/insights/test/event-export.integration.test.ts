import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { storeAt } from '@postroom/partitions';
import { inTransaction, logger, newId, pool, sql } from '@postroom/platform';
import { eventually, interleave } from '@postroom/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { exportEvents, exportProject } from '../src/event-export.ts';

const INSERT = `INSERT INTO events (id, project_id, type, data) VALUES ($1, $2, $3, $4)`;

/** A project and the folder that its events are exported to. */
async function exported() {
  const folder = await mkdtemp(join(tmpdir(), 'event-export-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const projectId = newId('prj');
  await pool.query('INSERT INTO projects (id, name) VALUES ($1, $1)', [projectId]);
  const add = async (
    tx: Parameters<typeof sql>[0] = pool,
    type = 'email.sent',
    data = '{"email": "ada@example.com"}',
  ) => {
    const id = newId('evt');
    await sql(tx, INSERT, [id, projectId, type, data]);
    return id;
  };
  const query = async (text: string) => {
    const connection = await (await DuckDBInstance.create()).connect();
    return (await connection.runAndReadAll(text.replaceAll('s3://analytics/postroom', folder))).getRows();
  };
  const ids = async () =>
    (
      await query(
        `SELECT id FROM read_parquet('${folder}/events/*/*.parquet', filename = true) ORDER BY filename, xact, id`,
      )
    ).flat();
  const store = storeAt(pathToFileURL(folder).href);
  return { projectId, folder, add, query, ids, store, run: () => exportProject(projectId, store, 3) };
}

test('events are exported once and in order, those of a transaction that ends later included', async () => {
  const { projectId, folder, add, ids, run } = await exported();
  const all = [await add(), await add()];
  // The order is that of numbers, not of texts.
  for (const [nth, id] of all.entries()) await pool.query('UPDATE events SET xact = $2 WHERE id = $1', [id, 9 + nth]);
  await inTransaction(async (slow) => {
    const late = await add(slow);
    const next = await add();
    await eventually(async () => {
      await run();
      expect(await ids()).toEqual(all);
    });
    all.push(late, next);
  });
  for (let nth = 0; nth < 5; nth++) all.push(await add());
  // More events than a file has, of one transaction.
  const together: string[] = [];
  await inTransaction(async (tx) => {
    for (let nth = 0; nth < 5; nth++) together.push(await add(tx));
  });
  all.push(...together.sort());
  await eventually(async () => {
    await Promise.all([run(), run()]);
    expect(await ids()).toEqual(all);
  });
  const names = await readdir(join(folder, 'events', projectId));
  expect(names.every((name) => /^0001-\d{19}-\d{19}-000[12]\.parquet$/.test(name))).toBe(true);
  expect(names.filter((name) => name.endsWith('-0002.parquet'))).toHaveLength(1);
  await run();
  expect(await readdir(join(folder, 'events', projectId))).toEqual(names);
});

test('events are exported although another project has been deleted', async () => {
  const { add, ids, run } = await exported();
  await pool.query(`INSERT INTO project_cells (project_id, cell, state, move_id) VALUES ($1, '', 'deleted', $1)`, [
    newId('prj'),
  ]);
  const id = await add();
  await eventually(async () => {
    await run();
    expect(await ids()).toEqual([id]);
  });
});

test('a file that cannot be stored is stored later, under the same name and without what came since', async () => {
  const { projectId, add, ids, store, run } = await exported();
  const failed: string[] = [];
  const first = await add();
  await eventually(async () => {
    await exportProject(projectId, (name) => Promise.reject(new Error(`full: ${failed.push(name)}`)), 3).catch(
      () => {},
    );
    expect(failed).not.toEqual([]);
  });
  const second = await add();
  const stored: string[] = [];
  await eventually(async () => {
    await exportProject(projectId, (name, content) => (stored.push(name), store(name, content)), 3);
    expect(await ids()).toEqual([first, second]);
  });
  expect(stored[0]).toBe(failed[0]);
  expect(stored).toHaveLength(2);
  await run();
});

test('an export that fails is logged by the name that the guide mentions', async () => {
  const { add, folder } = await exported();
  const error = vi.spyOn(logger, 'error').mockReturnValue(undefined);
  onTestFinished(() => error.mockRestore());
  await writeFile(join(folder, 'file'), '');
  await add();
  await eventually(async () => {
    await exportEvents(pathToFileURL(join(folder, 'file')).href);
    expect(error.mock.calls).toContainEqual([
      { err: expect.objectContaining({ code: 'ENOTDIR' }) },
      expect.stringContaining('could not export events'),
    ]);
  });
});

test('after a dump was loaded into another server, all events are exported again, as a new run', async () => {
  const { projectId, folder, add, run } = await exported();
  await add();
  const runs = async () => (await readdir(join(folder, 'events', projectId))).map((name) => name.slice(0, 4));
  await eventually(async () => {
    await run();
    expect(await runs()).toEqual(['0001']);
  });
  await pool.query('UPDATE event_exports SET xact = 4000000000000 WHERE project_id = $1', [projectId]);
  await run();
  expect(await runs()).toEqual(['0001', '0002']);
});

test('the queries in docs/how-to/event-export.md read exported events', async () => {
  const { projectId, folder, add, query, run } = await exported();
  await add();
  await add(pool, 'email.bounced', '{"email": "bob@example.com"}');
  await eventually(async () => {
    await run();
    expect(await readdir(join(folder, 'events', projectId))).not.toEqual([]);
  });
  const page = await readFile(join(import.meta.dirname, '../../../docs/how-to/event-export.md'), 'utf8');
  const [, text = ''] = /```sql\n(-- DuckDB[^`]+)```/.exec(page) ?? [];
  const [byType = '', bounced = ''] = text.split(';\n');
  await eventually(async () => {
    await run();
    expect(new Map((await query(byType)) as [string, bigint][])).toEqual(
      new Map([
        ['email.bounced', 1n],
        ['email.sent', 1n],
      ]),
    );
  });
  expect(await query(bounced)).toEqual([['bob@example.com']]);
});

test('nothing is exported of a project that is deleted after it was listed', async () => {
  const { projectId, folder, add, run } = await exported();
  await add();
  await interleave((tx) => sql(tx, 'DELETE FROM projects WHERE id = $1', [projectId]), run);
  expect(await readdir(folder)).toEqual([]);
});
