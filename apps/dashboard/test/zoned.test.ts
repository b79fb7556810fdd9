import { expect, test } from 'vitest';
import { formatLocalTime, parseLocalTime } from '../src/pages/campaigns/zoned.ts';

test.each([
  ['Europe/Berlin', '2027-03-28T01:30', '2027-03-28T00:30:00.000Z'],
  ['Europe/Berlin', '2027-03-28T03:30', '2027-03-28T01:30:00.000Z'],
  ['Europe/Berlin', '2027-10-31T01:30', '2027-10-30T23:30:00.000Z'],
  ['Europe/Berlin', '2027-10-31T03:30', '2027-10-31T02:30:00.000Z'],
  ['America/New_York', '2027-03-14T01:59', '2027-03-14T06:59:00.000Z'],
  ['America/New_York', '2027-03-14T03:00', '2027-03-14T07:00:00.000Z'],
  ['Asia/Kathmandu', '2027-01-01T00:00', '2026-12-31T18:15:00.000Z'],
  ['UTC', '2027-01-01T00:00', '2027-01-01T00:00:00.000Z'],
])('in %s local time reads %s at %s, around each DST change', (zone, local, instant) => {
  expect(parseLocalTime(zone, local)?.toISOString()).toBe(instant);
  expect(formatLocalTime(zone, new Date(instant))).toBe(local);
});

test('times skipped by DST move forward one hour', () => {
  expect(parseLocalTime('Europe/Berlin', '2027-03-28T02:30')?.toISOString()).toBe('2027-03-28T01:30:00.000Z');
});

test('times repeated by DST resolve to one of the two instants', () => {
  const at = parseLocalTime('Europe/Berlin', '2027-10-31T02:30');
  expect(formatLocalTime('Europe/Berlin', at ?? new Date(0))).toBe('2027-10-31T02:30');
});

test('an invalid time is rejected', () => {
  expect(parseLocalTime('UTC', 'soon')).toBeUndefined();
});
