import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { cachedAggregate } from '../src/cached-aggregate.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Figures counted from so many rows: how often they were counted. */
function counter(rows: number) {
  let counted = 0;
  const count = async () => ({ result: ++counted, rows });
  return { count, counted: () => counted };
}

test('what is counted from few rows is counted each time, also when many ask at once', async () => {
  const kept = cachedAggregate<number>();
  const { count, counted } = counter(1_000);
  expect(await kept('a', count)).toBe(1);
  expect(await kept('a', count)).toBe(2);
  await Promise.all([kept('a', count), kept('a', count)]);
  expect(counted()).toBe(4);
});

test('what is counted from a million rows is counted once for all who ask within its time, and anew after it', async () => {
  const kept = cachedAggregate<number>();
  const { count } = counter(1_000_000);
  expect(await kept('a', count)).toBe(1);
  vi.setSystemTime(Date.now() + 99_000);
  expect(await kept('a', count)).toBe(1);
  expect(await kept('b', count)).toBe(2);
  vi.setSystemTime(Date.now() + 2_000);
  expect(await Promise.all([kept('a', count), kept('a', count), kept('a', count)])).toEqual([3, 3, 3]);
});

test('a count that fails is tried again by the next who asks', async () => {
  const kept = cachedAggregate<number>();
  const { count } = counter(1_000_000);
  await kept('a', count);
  vi.setSystemTime(Date.now() + 400_000);
  const failing = kept('a', () => Promise.reject(new Error('away')));
  await expect(failing).rejects.toThrow('away');
  expect(await kept('a', count)).toBe(2);
});

test('of very many answers the oldest go', async () => {
  const kept = cachedAggregate<number>();
  const { count } = counter(1_000_000);
  for (let at = 0; at <= 1_000; at++) await kept(String(at), count);
  expect(await kept('1000', count)).toBe(1_001);
  expect(await kept('0', count)).toBe(1_002);
});
