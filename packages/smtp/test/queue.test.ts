import { expect, test } from 'vitest';
import { FairQueue } from '../src/queue.ts';

test('messages of different projects take turns; each project keeps its order', () => {
  const queue = new FairQueue<string>();
  for (let number = 1; number <= 1_000; number++) queue.push('a', `a${number}`);
  queue.push('b', 'b1');
  queue.push('c', 'c1');
  queue.push('b', 'b2');
  const first = Array.from({ length: 6 }, () => [queue.peek(), queue.shift()]);
  expect(first.every(([peeked, shifted]) => peeked === shifted)).toBe(true);
  expect(first.map(([, shifted]) => shifted)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  expect(queue.length).toBe(997);
  let last: string | undefined;
  while (queue.length > 0) last = queue.shift();
  expect([last, queue.shift(), queue.peek()]).toEqual(['a1000', undefined, undefined]);
});

test('items that are put back come next, in their order, when the turn of their project comes', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'a3']) queue.push('a', item);
  const taken = [queue.shift()!, queue.shift()!];
  queue.push('b', 'b1');
  for (const item of taken.toReversed()) queue.unshift('a', item);
  queue.unshift('c', 'c1');
  const rest = Array.from({ length: 5 }, () => queue.shift());
  expect(rest).toEqual(['a1', 'b1', 'c1', 'a2', 'a3']);
  expect(queue.length).toBe(0);
});

test('items that match are removed from every project', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'a3', 'b1']) queue.push(item.charAt(0), item);
  expect(queue.shift()).toBe('a1');
  expect(queue.remove((item) => item === 'a2' || item === 'b1')).toEqual(expect.arrayContaining(['a2', 'b1']));
  expect([queue.length, queue.peek(), queue.shift(), queue.shift()]).toEqual([1, 'a3', 'a3', undefined]);
});
