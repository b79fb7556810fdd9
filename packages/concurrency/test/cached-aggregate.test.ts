import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { cachedAggregate } from '../src/cached-aggregate.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** An aggregate over `rows` rows, and how often it was computed. */
function counter(rows: number) {
  let counted = 0;
  const count = async () => ({ result: ++counted, rows });
  return { count, counted: () => counted };
}

test('an aggregate over few rows is computed on every call, even concurrent ones', async () => {
  const kept = cachedAggregate<number>();
  const { count, counted } = counter(1_000);
  expect(await kept('a', count)).toBe(1);
  expect(await kept('a', count)).toBe(2);
  await Promise.all([kept('a', count), kept('a', count)]);
  expect(counted()).toBe(4);
});

test('an aggregate over a million rows is computed once for all callers until it expires', async () => {
  const kept = cachedAggregate<number>();
  const { count } = counter(1_000_000);
  expect(await kept('a', count)).toBe(1);
  vi.advanceTimersByTime(99_000);
  expect(await kept('a', count)).toBe(1);
  expect(await kept('b', count)).toBe(2);
  vi.advanceTimersByTime(2_000);
  expect(await Promise.all([kept('a', count), kept('a', count), kept('a', count)])).toEqual([3, 3, 3]);
});

test('an aggregate expires at its time when the clock of the machine is set back', async () => {
  const kept = cachedAggregate<number>();
  const { count } = counter(1_000_000);
  vi.useFakeTimers({ toFake: ['performance', 'Date'] });
  expect(await kept('a', count)).toBe(1);
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(101_000);
  expect(await kept('a', count)).toBe(2);
});

test('a failed computation is retried by the next caller', async () => {
  const kept = cachedAggregate<number>();
  const { count } = counter(1_000_000);
  await kept('a', count);
  vi.advanceTimersByTime(400_000);
  const failing = kept('a', () => Promise.reject(new Error('away')));
  await expect(failing).rejects.toThrow('away');
  expect(await kept('a', count)).toBe(2);
});

test('the least recently used entries are evicted', async () => {
  const kept = cachedAggregate<number>();
  const { count } = counter(1_000_000);
  for (let at = 0; at <= 1_000; at++) await kept(String(at), count);
  expect(await kept('1000', count)).toBe(1_001);
  expect(await kept('0', count)).toBe(1_002);
});

test('long keys take no memory, and are told apart by their ends', async () => {
  const cached = cachedAggregate<number>();
  const { count } = counter(1_000_000);
  const before = process.memoryUsage().rss;
  // 400 keys of a megabyte.
  const long = (at: number) => Buffer.alloc(1_000_000, 'x').toString('latin1') + String(at);
  for (let at = 1; at <= 400; at++) expect(await cached(long(at), count)).toBe(at);
  expect(await cached(long(1), count)).toBe(1);
  expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
});
