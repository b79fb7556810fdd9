import { join } from 'node:path';
import { newId, startWorkflow } from '@postroom/platform';
import { eventually, killableWorker, type KillableWorker } from '@postroom/testkit';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

let worker: KillableWorker;
let db: pg.Client;

beforeAll(async () => {
  worker = await killableWorker(join(import.meta.dirname, 'kill.worker.ts'), ['--expose-gc']);
  ({ db } = worker);
});

afterAll(async () => {
  await worker.close();
});

/** The worker's peak memory usage since the last call, in MB. */
const memory = () =>
  new Promise<number>((resolve) => {
    worker.process?.once('message', (megabytes) => resolve(Number(megabytes)));
    worker.process?.send('memory');
  });

/** Stores a file as an upload does, and starts its import. */
async function importOf(file: string, kind = 'contacts'): Promise<{ id: string; projectId: string }> {
  const [id, projectId] = [newId('imp'), newId('prj')];
  const bytes = Buffer.from(file);
  await db.query(`INSERT INTO projects (id, name) VALUES ($1, 'Test')`, [projectId]);
  await db.query(
    `INSERT INTO imports (id, project_id, status, size, on_conflict, dry_run, create_fields, group_name, kind)
     VALUES ($1, $2, 'queued', $3, 'skip', false, true, 'Everybody', $4)`,
    [id, projectId, bytes.length, kind],
  );
  for (let at = 0; at < bytes.length; at += 1_000_000) {
    await db.query('INSERT INTO import_parts (import_id, number, data) VALUES ($1, $2, $3)', [
      id,
      at / 1_000_000,
      bytes.subarray(at, at + 1_000_000),
    ]);
  }
  await startWorkflow(db, { workflowId: id, type: 'importContacts', args: [id] });
  return { id, projectId };
}

const rowOf = async (id: string) => (await db.query('SELECT * FROM imports WHERE id = $1', [id])).rows[0];
const one = async (text: string, values: unknown[]) => (await db.query(text, values)).rows[0];

/** Every hundredth row repeats an earlier address, and every thousandth has none. */
const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, n) => {
    if (n % 1000 === 999) return `nobody,Nobody ${n},x`;
    return `person${n % 100 === 99 ? n - 50 : n}@example.com,Person ${n},note ${n}`;
  });
const fileOf = (count: number) => ['email,name,note', ...rowsOf(count)].join('\n');

test(
  'after kill -9 of the worker, an import resumes, and nothing is duplicated or lost',
  { timeout: 180_000 },
  async () => {
    const ROWS = 40_000;
    const { id, projectId } = await importOf(fileOf(ROWS));
    const reached: number[] = [];
    worker.start();
    for (const rows of [0, 10_000, 20_000]) {
      await eventually(async () => expect((await rowOf(id)).rows).toBeGreaterThan(rows), 60_000);
      await worker.kill();
      const { status, rows: kept } = await rowOf(id);
      expect(status).toBe('running');
      reached.push(kept);
      worker.start();
    }
    await eventually(async () => expect((await rowOf(id)).status).toBe('completed'), 90_000);

    const [invalid, duplicates] = [ROWS / 1000, ROWS / 100 - ROWS / 1000];
    const created = ROWS - invalid - duplicates;
    expect(await rowOf(id)).toMatchObject({
      rows: ROWS,
      created,
      duplicates,
      invalid,
      updated: 0,
      unchanged: 0,
      suppressed: 0,
    });
    expect(
      await one(
        'SELECT count(*)::int AS contacts, count(DISTINCT email_key)::int AS addresses FROM contacts WHERE project_id = $1',
        [projectId],
      ),
    ).toEqual({ contacts: created, addresses: created });
    expect(
      await one(
        `SELECT count(*)::int AS events, count(DISTINCT e.data->>'contact_id')::int AS contacts
           FROM events e JOIN contacts c ON c.id = e.data->>'contact_id' WHERE e.project_id = $1 AND e.type = 'contact.created'`,
        [projectId],
      ),
    ).toEqual({ events: created, contacts: created });
    expect(await one('SELECT count(*)::int AS errors FROM import_errors WHERE import_id = $1', [id])).toEqual({
      errors: invalid + duplicates,
    });
    expect(await one('SELECT message FROM import_errors WHERE import_id = $1 AND line = 39901', [id])).toEqual({
      message: 'is already in line 39851',
    });
    expect(
      await one(
        'SELECT count(*)::int AS members FROM group_members m JOIN groups g ON g.id = m.group_id WHERE g.project_id = $1',
        [projectId],
      ),
    ).toEqual({ members: created });
    // Batches written before a kill were not written again.
    expect(reached.every((rows, n) => rows > (reached[n - 1] ?? 0))).toBe(true);
    console.info(`killed at ${reached.join(', ')} of ${ROWS} rows`);
  },
);

test(
  'after kill -9 of the worker, an import of suppressions resumes, and none is lost',
  { timeout: 180_000 },
  async () => {
    const ROWS = 40_000;
    await worker.kill();
    worker.start();
    const { id, projectId } = await importOf(fileOf(ROWS), 'suppressions');
    for (const rows of [0, 10_000]) {
      await eventually(async () => expect((await rowOf(id)).rows).toBeGreaterThan(rows), 60_000);
      await worker.kill();
      expect((await rowOf(id)).status).toBe('running');
      worker.start();
    }
    await eventually(async () => expect((await rowOf(id)).status).toBe('completed'), 90_000);
    const [invalid, duplicates] = [ROWS / 1000, ROWS / 100 - ROWS / 1000];
    const created = ROWS - invalid - duplicates;
    expect(await rowOf(id)).toMatchObject({ rows: ROWS, created, duplicates, invalid, unchanged: 0 });
    expect(
      await one(
        'SELECT count(*)::int AS rows, count(DISTINCT email_key)::int AS addresses FROM suppressions WHERE project_id = $1',
        [projectId],
      ),
    ).toEqual({ rows: created, addresses: created });
    expect(
      await one('SELECT rows, value FROM import_causes WHERE import_id = $1 AND message LIKE $2', [id, 'must%']),
    ).toEqual({
      rows: invalid,
      value: '',
    });
  },
);

test('a file of 60 MB needs no more memory than one of 6 MB', { timeout: 420_000 }, async () => {
  await worker.kill();
  worker.start({ MEASURES_MEMORY: 'yes' });
  // Long rows, so that the database has few to write.
  const note = 'x'.repeat(4_950);
  const measured: number[] = [];
  for (const count of [1_200, 12_000]) {
    const { id } = await importOf(['email,name,note', ...rowsOf(count).map((row) => row + note)].join('\n'));
    await eventually(async () => expect((await rowOf(id)).status).toBe('completed'), 300_000); // paced while other tests run
    measured.push(await memory());
  }
  const [few = 0, many = 0] = measured;
  console.info(`${few} MB for 1,200 rows, ${many} MB for 12,000`);
  expect(many - few).toBeLessThan(40);
});
