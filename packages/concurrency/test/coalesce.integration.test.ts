import { expect, test } from 'vitest';
import { pool } from '@postroom/platform';
import { coalesceReads, coalesce, coalesceByProject } from '../src/coalesce.ts';

/** Work that the test ends, and its arguments. */
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

test('what is asked for in one turn of the event loop is done together, and what is asked for meanwhile together after it', async () => {
  const { batches, doMany, endNext } = stoppable();
  const ask = coalesce(doMany);
  const first = ask('a');
  await settled();
  expect(batches).toEqual([['a']]);
  const others = [ask('b'), ask('c'), ask('b')];
  endNext();
  expect(await first).toBe('A');
  await settled();
  expect(batches).toEqual([['a'], ['b', 'c', 'b']]);
  const last = ask('d');
  endNext();
  expect(await Promise.all(others)).toEqual(['B', 'C', 'B']);
  await settled();
  endNext();
  expect(await last).toBe('D');
  expect(batches).toEqual([['a'], ['b', 'c', 'b'], ['d']]);
});

test('a failure is that of the items done with it, and later ones are done', async () => {
  const { doMany, endNext } = stoppable();
  const ask = coalesce(doMany);
  const first = ask('a');
  await settled();
  const failing = Promise.allSettled([ask('bad'), ask('b')]);
  endNext();
  await first;
  await settled();
  const last = ask('c');
  endNext();
  expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await settled();
  endNext();
  expect(await last).toBe('C');
});

test('a value that the database refuses is the error of its caller alone', async () => {
  const ask = coalesce(async (numbers: readonly string[]) => {
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
  const read = coalesceReads(async (keys) => {
    reads.push(keys);
    await settled();
    return new Map(keys.filter((key) => key !== 'absent').map((key) => [key, `value of ${key}`]));
  });
  const values = await Promise.all([read('x'), read('a'), read('absent'), read('a')]);
  expect(values).toEqual(['value of x', 'value of a', undefined, 'value of a']);
  expect(reads).toEqual([['x', 'a', 'absent']]);
});

test('a write that waits in one project keeps no other project waiting', async () => {
  const held = Promise.withResolvers<void>();
  const done: string[][] = [];
  const write = coalesceByProject<string, void>(
    (item) => item.slice(0, 1),
    async (items) => {
      if (items[0]?.startsWith('a')) await held.promise;
      done.push([...items]);
      return [];
    },
  );
  const ofA = [write('a1'), write('a2')];
  await Promise.all([write('b1'), write('b2')]);
  expect(done).toEqual([['b1', 'b2']]);
  held.resolve();
  await Promise.all(ofA);
  expect(done).toEqual([
    ['b1', 'b2'],
    ['a1', 'a2'],
  ]);
});
