import { emptyDatabase } from '@postroom/testkit/database';
import { expect, onTestFinished, test } from 'vitest';
import { buildPartitionedIndexes } from '../src/partitioned-indexes.ts';

test('partitions get the index of their table, also after a process was killed while it built one', async () => {
  const { client, drop } = await emptyDatabase();
  onTestFinished(drop);
  await client.query('CREATE TABLE hits (id text, data json) PARTITION BY RANGE (id)');
  for (const [from, to] of ['ab', 'bc', 'cd'])
    await client.query(`CREATE TABLE hits_${from} PARTITION OF hits FOR VALUES FROM ('${from}') TO ('${to}')`);
  await client.query(`CREATE INDEX hits_kind ON ONLY hits ((data ->> 'kind')) WHERE id <> 'b'`);
  // One is built, and one was begun.
  await client.query(`CREATE INDEX hits_a_hits_kind ON hits_a ((data ->> 'kind')) WHERE id <> 'b'`);
  await client.query('ALTER INDEX hits_kind ATTACH PARTITION hits_a_hits_kind');
  await client.query(`CREATE INDEX hits_b_hits_kind ON hits_b (id)`);
  await buildPartitionedIndexes(client);
  const read = () =>
    client.query<{ name: string; definition: string; valid: boolean; oid: number }>(
      `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition, indisvalid AS valid, indexrelid AS oid
       FROM pg_index WHERE indrelid::regclass::text LIKE 'hits%' ORDER BY 1`,
    );
  const { rows } = await read();
  expect(rows.map(({ name, valid }) => [name, valid])).toEqual([
    ['hits_a_hits_kind', true],
    ['hits_b_hits_kind', true],
    ['hits_c_hits_kind', true],
    ['hits_kind', true],
  ]);
  expect(rows[1]?.definition).toMatch(/ON public\.hits_b USING btree .*'kind'.* WHERE \(id <> 'b'::text\)$/);
  await buildPartitionedIndexes(client);
  expect((await read()).rows).toEqual(rows);
});
