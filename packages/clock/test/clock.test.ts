import { afterEach, expect, test, vi } from 'vitest';
import { databaseNow, databaseTime, setDatabaseTime } from '../src/clock.ts';
import { keepDatabaseTime } from '../src/keep.ts';

const HOUR_MS = 3_600_000;

/** PostgreSQL's clock differs from the machine's. @returns what is reported. */
const setAhead = (ms: number) =>
  setDatabaseTime({ databaseMs: Date.now() + ms, askedAt: performance.now(), answeredAt: performance.now() });

afterEach(() => {
  vi.useRealTimers();
  setAhead(0);
});

test("the time does not change when the machine's clock jumps", () => {
  setAhead(0);
  const now = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now: now - HOUR_MS });
  expect(Math.abs(databaseNow() - now)).toBeLessThan(5_000);
  expect(Math.abs(databaseTime().getTime() - now)).toBeLessThan(5_000);
});

test('a clock that differs by more than five seconds is reported', () => {
  expect(setAhead(4_000)).toBeUndefined();
  expect(Math.abs((setAhead(-HOUR_MS) ?? 0) - HOUR_MS)).toBeLessThan(1_000);
  expect(Math.abs((setAhead(HOUR_MS) ?? 0) + HOUR_MS)).toBeLessThan(1_000);
});

test("the time of PostgreSQL's answer is that of the middle of its round trip", () => {
  const now = performance.now();
  setDatabaseTime({ databaseMs: 1_000_000, askedAt: now - 400, answeredAt: now });
  expect(Math.abs(databaseNow() - 1_000_200)).toBeLessThan(50);
});

test("a program takes over PostgreSQL's time again and again, and an outage does not stop it", async () => {
  vi.useFakeTimers();
  const onWrong = vi.fn<(seconds: number) => void>();
  const answers = [Date.now() + HOUR_MS, new Error('away'), Date.now() + 2 * HOUR_MS];
  const ask = async () => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer ?? 0;
  };
  await keepDatabaseTime({ ask, onWrong });
  expect(databaseNow() - Date.now()).toBe(HOUR_MS);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(databaseNow() - Date.now()).toBe(HOUR_MS);
  const before = Date.now();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(Math.round((databaseNow() - before) / HOUR_MS)).toBe(2);
  expect(onWrong.mock.calls.map(([seconds]) => Math.round(seconds / 3_600))).toEqual([-1, -2]);
});
