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
  ['Europe/London', '2027-10-31T02:00', '2027-10-31T02:00:00.000Z'],
  ['UTC', '2027-01-01T00:00', '2027-01-01T00:00:00.000Z'],
])('in %s local time reads %s at %s, around each DST change', (zone, local, instant) => {
  expect(parseLocalTime(zone, local)?.toISOString()).toBe(instant);
  expect(formatLocalTime(zone, new Date(instant))).toBe(local);
});

test.each([
  ['Europe/Berlin', '2027-03-28T02:30', '2027-03-28T03:30'],
  ['America/New_York', '2027-03-14T02:30', '2027-03-14T03:30'],
  ['Australia/Lord_Howe', '2027-10-03T02:10', '2027-10-03T02:40'],
  ['Pacific/Apia', '2011-12-30T09:00', '2011-12-31T09:00'],
])('in %s, %s is skipped and becomes %s', (zone, local, moved) => {
  expect(formatLocalTime(zone, parseLocalTime(zone, local) ?? new Date(0))).toBe(moved);
});

test.each([
  ['Europe/London', '2027-10-31T01:30', '2027-10-31T01:30:00.000Z'],
  ['America/New_York', '2027-11-07T01:30', '2027-11-07T06:30:00.000Z'],
])('in %s, %s occurs twice and is the second time', (zone, local, instant) => {
  expect(parseLocalTime(zone, local)?.toISOString()).toBe(instant);
});

test.each(['America/New_York', 'UTC', 'Asia/Kathmandu'])('every year that can be typed is one, in %s', (zone) => {
  for (const year of ['0001', '0002', '0020', '0202', '1900', '9999']) {
    const local = `${year}-06-30T15:00`;
    expect(formatLocalTime(zone, parseLocalTime(zone, local) ?? new Date(0))).toBe(local);
  }
  expect(parseLocalTime(zone, '9999-12-31T23:59')?.getTime()).toBeGreaterThan(Date.now());
});

test('an invalid time is rejected', () => {
  expect(parseLocalTime('UTC', 'soon')).toBeUndefined();
});
