import { expect, test } from 'vitest';
import { stopAfterRepeatedErrors } from '../src/repeated-errors.ts';

const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

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
