import { databaseNow } from '@postroom/clock';
import { expect, test } from 'vitest';
import type { PostResponse } from '@postroom/guarded-client';
import { describeResponse, isAcknowledged, retryDelayMs } from '../src/schedule.ts';
import { POLICY } from '../src/policy.ts';

const response = (more: Partial<PostResponse> = {}): PostResponse => ({
  durationMs: 1,
  status: 500,
  error: null,
  body: '',
  retryAfter: null,
  ...more,
});

const minutes = (n: number) => n * 60_000;

test('retries come after roughly 1 minute, 5 minutes, 30 minutes, 2 hours, then 6 hours; the sixth attempt is the last', () => {
  expect(POLICY.attempt.retryDelaysMs).toEqual([1, 5, 30, 120, 360].map(minutes));
  expect(POLICY.attempt.max).toBe(6);
  const least = [1, 2, 3, 4, 5, 6].map((attempt) => retryDelayMs(attempt, response(), () => 0));
  expect(least).toEqual([...POLICY.attempt.retryDelaysMs, undefined]);
  const most = [1, 2, 3, 4, 5].map((attempt) => retryDelayMs(attempt, response(), () => 0.999999));
  expect(most).toEqual(POLICY.attempt.retryDelaysMs.map((delay) => Math.round(delay * 1.0999999)));
});

test('any 2xx acknowledges; any other status and no status do not', () => {
  const acknowledged = [200, 204, 226, 299].map((status) => isAcknowledged({ status }));
  expect(acknowledged).toEqual([true, true, true, true]);
  const not = [100, 199, 300, 304, 400, 404, 500, null].map((status) => isAcknowledged({ status }));
  expect(new Set(not)).toEqual(new Set([false]));
});

test.each([
  ['90', 90_000],
  ['30', 60_000],
  ['86400', 120_000],
  ['soon', 60_000],
  ['-5', 60_000],
])(
  'Retry-After: %s on 429 or 503 is honored within the schedule: the first retry comes after %i ms',
  (retryAfter, expected) => {
    for (const status of [429, 503]) expect(retryDelayMs(1, response({ status, retryAfter }), () => 0)).toBe(expected);
    expect(retryDelayMs(1, response({ status: 500, retryAfter }), () => 0)).toBe(60_000);
  },
);

test('Retry-After may be a date', () => {
  const retryAfter = new Date(databaseNow() + 100_000).toUTCString(); // in whole seconds
  const delayMs = retryDelayMs(1, response({ status: 503, retryAfter }), () => 0);
  expect(delayMs).toBeGreaterThan(98_000);
  expect(delayMs).toBeLessThanOrEqual(100_000);
});

test("the description of a response contains none of the receiver's text", () => {
  expect(describeResponse(response({ status: 500, body: 'ada@example.com' }))).toBe('HTTP 500');
  expect(describeResponse({ status: null, error: 'The connection was refused.' })).toBe('The connection was refused.');
});
