import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { ChunkList } from '../src/chunk-list.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

test('chunks are joined in their order', () => {
  const list = new ChunkList();
  const pieces = Array.from({ length: 3_000 }, (_, index) => Buffer.from(`${index},`));
  for (const piece of pieces) list.push(piece);
  expect(list.length).toBe(Buffer.concat(pieces).length);
  expect(list.concat().equals(Buffer.concat(pieces))).toBe(true);
  list.clear();
  expect([list.length, list.concat().length]).toEqual([0, 0]);
});

test('a million chunks of one byte use little more memory than their content', () => {
  const slab = Buffer.alloc(64 * 1024, 'x');
  const list = new ChunkList();
  const used = () => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = used();
  for (let at = 0; at < 1_000_000; at++) list.push(slab.subarray(at % slab.length, (at % slab.length) + 1));
  expect(used() - before).toBeLessThan(10_000_000);
  expect(list.concat().length).toBe(1_000_000);
});
