import { hasId, isIdWithin } from '@postroom/partitions/sql';
import { findPruning } from '@postroom/testkit/pruning';
import { expect, test } from 'vitest';

const among = (condition: string) =>
  `WITH o AS (SELECT id FROM unnest($1::text[]) AS id), changed AS (UPDATE deliveries m SET workflow_id = '' FROM o WHERE ${condition} RETURNING m.id) SELECT count(*) FROM changed`;

test('a statement that chooses partitions while it changes rows is found, and none that chooses them when it begins', async () => {
  const [joined, limited] = [among('m.id = o.id'), among('m.endpoint_id = o.id AND m.id > (SELECT max(id) FROM o)')];
  const locked = `WITH locked AS (SELECT FROM campaigns WHERE id = $1 FOR UPDATE), m AS MATERIALIZED (SELECT m.id FROM campaigns c JOIN deliveries m ON m.id = c.cursor) SELECT FROM locked, m`;
  const read = `WITH locked AS (SELECT cursor FROM campaigns WHERE id = $1 FOR UPDATE) SELECT FROM locked JOIN deliveries m ON m.id = locked.cursor`;
  const fine = among(`${hasId('m.id', 'o.id')} AND ${isIdWithin('m.id', '$2', '$3')}`);
  expect(await findPruning([joined, limited, locked, read, fine])).toEqual([joined, limited, locked]);
});
