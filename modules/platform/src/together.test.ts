import { expect, test } from 'vitest';
import { pool } from './db.ts';
import { readTogether, together } from './together.ts';

/** Work that ends when it is told to, and what it was given. */
function stoppable() {
  const batches: (readonly string[])[] = [];
  const ends: (() => void)[] = [];
  const doMany = async (items: readonly string[]) => {
    batches.push(items);
    await new Promise<void>((resolve) => ends.push(resolve));
    if (items.includes('bad')) throw new Error('a bad item');
    return items.map((item) => item.toUpperCase());
  };
  return { batches, doMany, endNext: () => ends.shift()?.() };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('an item is done at once, and so is a second; what is asked for meanwhile is done together, after them', async () => {
  const { batches, doMany, endNext } = stoppable();
  const ask = together(doMany);
  const first = [ask('a'), ask('b')];
  const others = [ask('c'), ask('d'), ask('c')];
  expect(batches).toEqual([['a'], ['b']]);
  endNext();
  expect(await first[0]).toBe('A');
  await settled();
  expect(batches).toEqual([['a'], ['b'], ['c', 'd', 'c']]);
  endNext();
  endNext();
  expect(await Promise.all(others)).toEqual(['C', 'D', 'C']);
  const last = ask('e');
  endNext();
  expect(await last).toBe('E');
  expect(await first[1]).toBe('B');
});

test('a failure is that of the items done with it, and later ones are done', async () => {
  const { doMany, endNext } = stoppable();
  const ask = together(doMany);
  const first = [ask('a'), ask('b')];
  const failing = Promise.allSettled([ask('bad'), ask('c')]);
  endNext();
  endNext();
  await Promise.all(first);
  await settled();
  const last = ask('d');
  endNext();
  endNext();
  expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await last).toBe('D');
});

test('a value that the database refuses is the error of its caller alone', async () => {
  const ask = together(async (numbers: readonly string[]) => {
    const { rows } = await pool.query<{ number: number }>('SELECT n::int AS number FROM unnest($1::text[]) AS n', [
      numbers,
    ]);
    return rows.map(({ number }) => number);
  });
  const answers = await Promise.allSettled(['1', '2', 'three', '4'].map(ask));
  expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : 'refused'))).toEqual([
    1,
    2,
    'refused',
    4,
  ]);
});

test('a key that many read at once is read once; one that is not found is undefined', async () => {
  const reads: (readonly string[])[] = [];
  const read = readTogether(async (keys) => {
    reads.push(keys);
    await settled();
    return new Map(keys.filter((key) => key !== 'absent').map((key) => [key, `value of ${key}`]));
  });
  const values = await Promise.all([read('x'), read('y'), read('a'), read('absent'), read('a')]);
  expect(values).toEqual(['value of x', 'value of y', 'value of a', undefined, 'value of a']);
  expect(reads).toEqual([['x'], ['y'], ['a', 'absent']]);
});
