import { expect, test } from 'vitest';
import { deleteOldAuditEntries } from '../src/audit.ts';
import { pool } from '../src/db.ts';
import { idsFrom } from '../src/ids.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

test('the audit log is kept for ever, or for as many days as it is told', async () => {
  const ago = (days: number) => idsFrom('aud', new Date(Date.now() - days * DAY_MS));
  const [old, young] = [ago(4000), ago(3998)];
  for (const id of [old, young])
    await pool.query(`INSERT INTO audit_entries (id, actor_id, action) VALUES ($1, 'key_x', 'test')`, [id]);
  const left = async () =>
    (await pool.query('SELECT id FROM audit_entries WHERE id = ANY ($1) ORDER BY id', [[old, young]])).rows;
  expect(await deleteOldAuditEntries()).toBe(0);
  expect(await left()).toEqual([{ id: old }, { id: young }]);
  expect(await deleteOldAuditEntries({ days: 3999 })).toBeGreaterThanOrEqual(1);
  expect(await left()).toEqual([{ id: young }]);
});
