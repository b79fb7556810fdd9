import { idsFrom, inTransaction, pool, timeOfId } from '@postroom/platform';
import { runExclusively } from '@postroom/testkit';
import { beforeEach, expect, test } from 'vitest';
import { dropPartitions, extendPartitions, listPartitions } from '../src/index.ts';

runExclusively('partitions');

const DAY_MS = 24 * 60 * 60 * 1000;
const TABLE = { name: 'sample_rows', prefix: 'evt' } as const;
const NOW = Date.now();
const at = (days: number) => new Date(NOW + days * DAY_MS);
const idAt = (days: number) => idsFrom('evt', at(days));
const insert = (days: number) => pool.query('INSERT INTO sample_rows VALUES ($1)', [idAt(days)]);
const nothing = { needed: async () => [] };

/** Its rows, by the partitions they are in. */
async function rows(): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ name: string; count: number }>(
    'SELECT tableoid::regclass::text AS name, count(*)::int FROM sample_rows GROUP BY 1 ORDER BY 1',
  );
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

/** A partitioned table whose last partition begins at a Monday some weeks ago. */
beforeEach(async () => {
  const monday = new Date(Math.floor((Date.now() / DAY_MS + 3) / 7) * 7 * DAY_MS - 3 * DAY_MS - 28 * DAY_MS);
  const bound = idsFrom('evt', monday);
  await pool.query(`
    DROP TABLE IF EXISTS sample_rows;
    CREATE TABLE sample_rows (id text PRIMARY KEY) PARTITION BY RANGE (id);
    CREATE TABLE sample_rows_past PARTITION OF sample_rows FOR VALUES FROM (MINVALUE) TO ('${bound}') WITH (fillfactor = 70);
    CREATE TABLE sample_rows_rest PARTITION OF sample_rows FOR VALUES FROM ('${bound}') TO (MAXVALUE) WITH (fillfactor = 70)`);
});

test('partitions exist for three weeks ahead, and every row has one, whatever its time', async () => {
  await extendPartitions(TABLE, '1 week');
  await extendPartitions(TABLE, '1 week');
  for (const days of [-9_000, 0, 20, 40_000]) await insert(days);
  const names = Object.keys(await rows());
  expect(names).toHaveLength(4);
  expect(names.filter((name) => /^sample_rows_\d{8}$/.test(name))).toHaveLength(2);
  expect(names).toContain('sample_rows_past');
  expect(names).toContain('sample_rows_rest');
  const partitions = await listPartitions(TABLE);
  for (const [index, { to }] of partitions.entries()) expect(to).toBe(partitions[index + 1]?.from ?? null);
});

test('rows that came while nobody created partitions move to theirs, and all have the storage options of the table', async () => {
  for (const days of [0, -8]) await insert(days);
  expect(await rows()).toEqual({ sample_rows_rest: 2 });
  await extendPartitions(TABLE, '1 week');
  const found = await rows();
  expect(Object.values(found)).toEqual([1, 1]);
  expect(Object.keys(found).join()).toMatch(/^sample_rows_\d{8},sample_rows_\d{8}$/);
  const { rows: options } = await pool.query(
    `SELECT DISTINCT reloptions::text FROM pg_class WHERE relname LIKE 'sample_rows_%' AND relkind = 'r'`,
  );
  expect(options).toEqual([{ reloptions: '{fillfactor=70}' }]);
});

test('what is kept for years is in monthly partitions, also after it was in weekly ones', async () => {
  await extendPartitions(TABLE, '1 week');
  const weekly = await listPartitions(TABLE);
  await pool.query(`SELECT extend_partitions('sample_rows', 'evt', '1 month', '100 days')`);
  const added = (await listPartitions(TABLE)).slice(weekly.length - 1, -1);
  expect(added.length).toBeGreaterThanOrEqual(2);
  for (const { to } of added.slice(1)) {
    const { rows } = await pool.query(
      `SELECT extract(day FROM partition_bound_time('evt', $1) AT TIME ZONE 'UTC')::int AS day`,
      [to],
    );
    expect(rows).toEqual([{ day: 1 }]);
  }
});

test('expired partitions are dropped, except rows that are still needed, and ids of their time stay valid', async () => {
  await extendPartitions(TABLE, '1 week');
  for (const days of [-25, -24, -1]) await insert(days);
  const before = (await listPartitions(TABLE)).length;
  const { partitions: dropped, batchesUntil } = await dropPartitions(TABLE, at(-10), {
    needed: async ({ from, to }) => [idAt(-24)].filter((id) => id >= from && id < to),
  });
  expect(dropped).toBeGreaterThanOrEqual(2);
  expect((await listPartitions(TABLE)).length).toBe(before - dropped);
  await insert(-23);
  expect(await rows()).toEqual({ sample_rows_past: 2, [Object.keys(await rows())[0]!]: 1 });
  expect(batchesUntil.getTime()).toBeGreaterThan(at(-23).getTime());
  expect(await dropPartitions(TABLE, at(-10), nothing)).toEqual({ partitions: 0, batchesUntil });
});

test('a partition that could not be archived, or whose table is in use, is kept', async () => {
  await extendPartitions(TABLE, '1 week');
  const all = await listPartitions(TABLE);
  const archive = async () => {
    throw new Error('no space left');
  };
  const none = { partitions: 0, batchesUntil: timeOfId(all[0]?.to ?? '') };
  expect(await dropPartitions(TABLE, at(-10), { ...nothing, archive })).toEqual(none);
  await inTransaction(async (tx) => {
    await tx.query('SELECT FROM sample_rows');
    expect(await dropPartitions(TABLE, at(-10), nothing)).toEqual(none);
  });
  expect(await listPartitions(TABLE)).toEqual(all);
  expect((await dropPartitions(TABLE, at(-10), nothing)).partitions).toBeGreaterThanOrEqual(2);
});

test('a partition with too many rows that are still needed is kept, and rows up to the given time are to be deleted in batches', async () => {
  await extendPartitions(TABLE, '1 week');
  const all = await listPartitions(TABLE);
  const needed = async (_: unknown, limit: number) => [idAt(-25), idAt(-24)].slice(0, limit);
  expect(await dropPartitions(TABLE, at(-10), { needed, mostNeeded: 1 })).toEqual({
    partitions: 0,
    batchesUntil: at(-10),
  });
  // With an archive it waits until it can be stored as a whole.
  const archived = { needed, mostNeeded: 1, archive: async () => {} };
  expect((await dropPartitions(TABLE, at(-10), archived)).batchesUntil).toEqual(timeOfId(all[0]?.to ?? ''));
  expect(await listPartitions(TABLE)).toEqual(all);
});
