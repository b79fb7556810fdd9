import { expect, test } from 'vitest';
import { share } from '../src/data/share.ts';

test('a response that has not changed is the same object', () => {
  const last = {
    nodes: [
      { id: 'a', tags: ['x'] },
      { id: 'b', tags: [] },
    ],
    total: 2,
  };
  expect(share(last, structuredClone(last))).toBe(last);
});

test('parts that have not changed are the same objects', () => {
  const last = { nodes: [{ id: 'a' }, { id: 'b', count: 1 }], page: { end: null } };
  const next = share(last, { nodes: [{ id: 'a' }, { id: 'b', count: 2 }], page: { end: null } });
  expect(next).toEqual({ nodes: [{ id: 'a' }, { id: 'b', count: 2 }], page: { end: null } });
  expect(next.nodes[0]).toBe(last.nodes[0]);
  expect(next.nodes[1]).not.toBe(last.nodes[1]);
  expect(next.page).toBe(last.page);
});

test.each([
  [[1, 2], [1]],
  [[1], [1, 2]],
  [{ a: 1, b: 2 }, { a: 1 }],
  [{ a: 1 }, { a: undefined, b: 1 }],
  [{ a: [] }, { a: {} }],
  [{ a: null }, { a: { b: 1 } }],
  [undefined, { a: 1 }],
])('%j becomes %j', (last, next) => {
  expect(share<unknown>(last, next)).toEqual(next);
});
