import { newId, pool } from '@postroom/platform';
import { expect, test } from 'vitest';
import { EVENTS_RECEIVED_SINCE } from '../src/sql.ts';

test('recent events of a contact are found by the contact, also before PostgreSQL has statistics', async () => {
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${EVENTS_RECEIVED_SINCE}`, [
    newId('prj'),
    [0],
    [newId('ctc')],
    ['order placed'],
    [new Date()],
    [false],
  ]);
  const conditions = rows.map((row) => row['QUERY PLAN']).filter((line) => line.includes('Index Cond'));
  expect(conditions.length).toBeGreaterThan(0);
  for (const condition of conditions) expect(condition).toContain('contact_id = n.contact_id');
});
