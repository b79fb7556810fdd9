import { localInstant } from '@postroom/errors';
import { expect, test } from 'vitest';
import { nextLocalTime, quietUntil } from '../src/local-time.ts';

const at = (day: string, time: string, zone: string) => new Date(localInstant(day, time, zone)).toISOString();

test('a local time that does not exist becomes the one an hour later, and of one that exists twice it is the second', () => {
  expect(at('2026-11-25', '09:00', 'Europe/Berlin')).toBe('2026-11-25T08:00:00.000Z');
  expect(at('2026-11-25', '09:00', 'Asia/Kolkata')).toBe('2026-11-25T03:30:00.000Z');
  expect(at('2026-03-29', '02:30', 'Europe/Berlin')).toBe('2026-03-29T01:30:00.000Z');
  expect(at('2026-10-25', '02:30', 'Europe/Berlin')).toBe('2026-10-25T01:30:00.000Z');
  expect(at('2026-03-08', '02:30', 'America/New_York')).toBe('2026-03-08T07:30:00.000Z');
});

test('the next local time is later than now, on one of the weekdays', () => {
  const next = (after: string, weekdays: number[]) =>
    nextLocalTime({ time: '09:00', weekdays, zone: 'Europe/Berlin' }, Date.parse(after)).toISOString();
  // 27 November 2026 is a Friday.
  expect(next('2026-11-27T07:59:59Z', [5])).toBe('2026-11-27T08:00:00.000Z');
  expect(next('2026-11-27T08:00:00Z', [5])).toBe('2026-12-04T08:00:00.000Z');
  expect(next('2026-11-27T08:00:00Z', [1, 7])).toBe('2026-11-29T08:00:00.000Z');
});

test('quiet hours may span midnight', () => {
  const hours = { from: '22:00', to: '07:00' };
  const until = (now: string) => quietUntil('Europe/Berlin', hours, Date.parse(now))?.toISOString();
  expect(until('2026-11-25T21:30:00Z')).toBe('2026-11-26T06:00:00.000Z');
  expect(until('2026-11-25T06:00:00Z')).toBeUndefined();
});
