import { expect, test } from 'vitest';
import { batchLoader } from '../src/batch-loader.ts';

test('the keys of one tick and context are loaded once, and loaded again later', async () => {
  const loads: (readonly string[])[] = [];
  const load = batchLoader(async (context: { name: string }, keys) => {
    loads.push([context.name, ...keys]);
    return new Map(keys.filter((key) => key !== 'absent').map((key) => [key, `${key} of ${context.name}`]));
  });
  const [one, other] = [{ name: 'one' }, { name: 'other' }];
  const values = await Promise.all([load(one, 'a'), load(one, 'absent'), load(other, 'a'), load(one, 'a')]);
  expect(values).toEqual(['a of one', undefined, 'a of other', 'a of one']);
  expect(loads).toEqual([
    ['one', 'a', 'absent'],
    ['other', 'a'],
  ]);
  await load(one, 'a');
  expect(loads).toHaveLength(3);
});

test('a failed load rejects every key of its batch, and is not remembered', async () => {
  let isDown = true;
  const load = batchLoader(async (_context: object, keys) => {
    if (isDown) throw new Error('down');
    return new Map(keys.map((key) => [key, key]));
  });
  const context = {};
  const failed = await Promise.allSettled([load(context, 'a'), load(context, 'b')]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  isDown = false;
  expect(await load(context, 'a')).toBe('a');
});
