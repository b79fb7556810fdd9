import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { parseTimestamp } from '../src/connection-pool.ts';
import { isoString } from '@postroom/errors';

const parseByPg = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => unknown;

describe('timestamps', () => {
  test.each([
    '2026-11-24 09:53:14+00',
    '2026-11-24 09:53:14.1+00',
    '2026-11-24 09:53:14.12+00',
    '2026-02-28 23:59:59.999+00',
    '2024-02-29 00:00:00.123456+00',
    '1969-12-31 23:59:59.5+00',
    '0099-01-01 00:00:00+00',
    '0001-01-01 00:00:00+00',
    '9999-12-31 23:59:59.999999+00',
    '294276-12-31 23:59:59.999+00',
    '0044-03-15 00:00:00+00 BC',
    '2026-11-24 09:53:14.123+05:30',
    '2026-11-24 09:53:14.123-08',
    '2026-11-24 09:53:14.123+02',
    '1883-11-18 12:00:00-04:56:02',
    'infinity',
    '-infinity',
  ])('%s is read as pg reads it', (text) => {
    expect(parseTimestamp(text)).toEqual(parseByPg(text));
  });

  test('dates are written as toISOString writes them', () => {
    const dates = [
      0, -1, 1, 86_399_999, 86_400_000, -86_400_000, -62_198_755_200_001, 253_402_300_800_000, 8.64e15, -8.64e15,
    ];
    for (let at = 0; at < 1000; at++) dates.push(Math.floor((Math.sin(at) * 0.5 + 0.5) * 4e12));
    for (const ms of dates) expect(isoString(new Date(ms))).toBe(new Date(ms).toISOString());
    expect(() => isoString(new Date(Number.NaN))).toThrow(RangeError);
  });
});
