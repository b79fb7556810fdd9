import { pool } from '@postroom/platform';
import { elementOf, isIdWithin, rowsById, rowWithId, valueById } from '@postroom/partitions/sql';
import { findUnsafePlans } from '@postroom/testkit/plans';
import { expect, test } from 'vitest';

const among = (condition: string) =>
  `WITH o AS (SELECT id FROM unnest($1::text[]) AS id), changed AS (UPDATE deliveries m SET workflow_id = '' FROM o WHERE ${condition} RETURNING m.id) SELECT count(*) FROM changed`;

test('a statement that chooses partitions while it changes rows is found, and none that chooses them when it begins', async () => {
  const [joined, limited] = [among('m.id = o.id'), among('m.endpoint_id = o.id AND m.id > (SELECT max(id) FROM o)')];
  const locked = `WITH locked AS (SELECT FROM campaigns WHERE id = $1 FOR UPDATE), m AS MATERIALIZED (SELECT m.id FROM campaigns c JOIN deliveries m ON m.id = c.cursor) SELECT FROM locked, m`;
  const read = `WITH locked AS (SELECT cursor FROM campaigns WHERE id = $1 FOR UPDATE) SELECT FROM locked JOIN deliveries m ON m.id = locked.cursor`;
  const lookedUp = `WITH o AS (SELECT * FROM unnest($1::text[]) AS id) SELECT FROM o CROSS JOIN LATERAL ${rowWithId('deliveries', 'm', 'o.id', 'FOR NO KEY UPDATE')} m`;
  const parallel = `UPDATE deliveries m SET workflow_id = ${elementOf('$2::text[]', '$1::text[]', 'm.id')} WHERE m.id = ANY ($1) AND ${isIdWithin('m.id', '$3', '$4')}`;
  const byId = `WITH o AS (SELECT * FROM unnest($1::text[], $2::text[]) AS o(id, name)), o_by_id AS (${rowsById('o')})
    UPDATE deliveries m SET workflow_id = ${valueById('o_by_id', 'm.id')('name', 'text')} WHERE m.id = ANY (ARRAY(SELECT id FROM o))`;
  expect(await findUnsafePlans([joined, limited, locked, read, lookedUp, parallel, byId])).toEqual([
    joined,
    limited,
    locked,
  ]);
});

test('values for rows are found by the position of the id, and by the id', async () => {
  const { rows } = await pool.query(
    `WITH o AS (SELECT * FROM unnest($1::text[], $2::text[]) AS o(id, name)), o_by_id AS (${rowsById('o')})
     SELECT id, ${elementOf('$2::text[]', '$1::text[]', 'm.id')} AS name, ${valueById('o_by_id', 'm.id')('name', 'text')} AS again FROM o m`,
    [
      ['dlv_01', 'dlv_0a', 'dlv_b1'],
      ['first', null, "the 'third'"],
    ],
  );
  expect(rows).toEqual([
    { id: 'dlv_01', name: 'first', again: 'first' },
    { id: 'dlv_0a', name: null, again: null },
    { id: 'dlv_b1', name: "the 'third'", again: "the 'third'" },
  ]);
});
