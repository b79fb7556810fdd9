import { expect, test } from 'vitest';
import { db, inTransaction, pool } from '@postroom/platform';
import { guardedFetch } from '../src/ssrf-guard.ts';
import { assertNoTransaction } from '../src/transaction-guard.ts';

const URL = 'http://127.0.0.1:9/';

test('a call to another system while a transaction is open fails the test that makes it, whichever client opened it', async () => {
  const call = async () => guardedFetch(URL, 'loopback');
  await expect(inTransaction(call)).rejects.toThrow('while a database transaction is open');
  await expect(db.$transaction(call)).rejects.toThrow('while a database transaction is open');
  await expect(call()).rejects.toThrow('The request to 127.0.0.1:9 failed');
});

test('after a transaction, and between statements outside one, calls are allowed', async () => {
  await inTransaction(async (client) => void (await client.query('SELECT 1')));
  await db.$transaction([db.project.count(), db.project.count()]);
  await pool.query('SELECT 1');
  expect(() => assertNoTransaction('Something')).not.toThrow();
});
