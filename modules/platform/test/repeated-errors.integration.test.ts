import { once } from 'node:events';
import { connect } from 'node:net';
import { isOutage } from '@postroom/errors';
import { expect, test } from 'vitest';
import { pool } from '../src/db.ts';
import { stopAfterRepeatedErrors } from '../src/repeated-errors.ts';

const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

test('what is away for a while is an outage; what is wrong with the data or the code is none', async () => {
  const [refused] = (await once(connect(1, '127.0.0.1'), 'error').catch((error: unknown) => [error])) as [Error];
  expect(isOutage(refused)).toBe(true);
  expect(isOutage(Object.assign(new Error('x'), { code: '57P01', severity: 'FATAL' }))).toBe(true);
  expect(isOutage(new Error('wrapped', { cause: refused }))).toBe(true);
  expect(isOutage(new Error('Connection terminated unexpectedly'))).toBe(true);
  expect(isOutage(await errorOf(pool.query(`SELECT 'x'::int`)))).toBe(false);
  expect(isOutage(await errorOf(pool.query('SELECT 1/0')))).toBe(false);
  expect(isOutage(new RangeError('Maximum call stack size exceeded'))).toBe(false);
});

test('work that fails ten times in a row is given up, and outages do not count', async () => {
  const outage = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', errno: -111 });
  const bug = new TypeError('x is undefined');
  const reasons: string[] = [];
  const giveUp = async (reason: string) => void reasons.push(reason);
  const attempt = (error: Error) => {
    const work = async () => {
      throw error;
    };
    return errorOf(stopAfterRepeatedErrors('test 1', work, giveUp));
  };
  for (let count = 0; count < 9; count++) expect(await attempt(bug)).toBe(bug);
  for (let count = 0; count < 20; count++) expect(await attempt(outage)).toBe(outage);
  expect(reasons).toEqual([]);
  expect(await attempt(bug)).toBeUndefined();
  expect(reasons).toEqual(['x is undefined']);
  expect(await attempt(bug)).toBe(bug);
});
