import { afterEach, expect, test } from 'vitest';
import { databaseNow, setDatabaseTime } from '@postroom/clock';
import { idsFrom, isId, newId, timeOfId } from '../src/ids.ts';

const HOUR_MS = 3_600_000;

/** PostgreSQL's clock differs from the machine's. @returns what is reported. */
const setAhead = (ms: number) =>
  setDatabaseTime({ databaseMs: Date.now() + ms, askedAt: performance.now(), answeredAt: performance.now() });

afterEach(() => void setAhead(0));

test('ids made one after the other sort in that order, within a millisecond too', () => {
  const ids = Array.from({ length: 10_000 }, () => newId('ctc'));
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(ids.length);
});

test('an id is its prefix and 26 digits of a UUIDv7 whose time is now', () => {
  const id = newId('grp');
  expect(id).toMatch(/^grp_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  const bits = Array.from(id.slice(4))
    .map((digit) => '0123456789abcdefghjkmnpqrstvwxyz'.indexOf(digit).toString(2).padStart(5, '0'))
    .join('')
    .slice(2);
  expect(Math.abs(Number.parseInt(bits.slice(0, 48), 2) - Date.now())).toBeLessThan(10_000);
  expect(bits.slice(48, 52)).toBe('0111');
  expect(bits.slice(64, 66)).toBe('10');
});

test('an id of another kind, or of a bad form, is not an id', () => {
  expect(isId('ctc', newId('ctc'))).toBe(true);
  expect(isId('ctc', newId('grp'))).toBe(false);
  for (const text of ['', 'ctc_', 'ctc_1', `ctc_${'8'.repeat(26)}`, `${newId('ctc')}x`, `ctc_${'I'.repeat(26)}`]) {
    expect(isId('ctc', text)).toBe(false);
  }
});

test('a range of ids begins at a time: ids made before sort before, those made then or later after', () => {
  const earlier = newId('evt');
  const ms = databaseNow() + 5;
  const from = idsFrom('evt', new Date(ms));
  expect(isId('evt', from)).toBe(true);
  expect(earlier < from).toBe(true);
  expect(idsFrom('evt', new Date(ms - 1)) < from).toBe(true);
  while (databaseNow() < ms);
  expect(newId('evt') > from).toBe(true);
  expect(idsFrom('evt', new Date(-1))).toBe(`evt_${'0'.repeat(26)}`);
  expect(idsFrom('evt', new Date(2 ** 50)) > newId('evt')).toBe(true);
});

test.each([-HOUR_MS, HOUR_MS])("ids have PostgreSQL's time, which is ahead of the machine's by %d ms", (ahead) => {
  setAhead(ahead);
  for (const id of [newId('evt'), newId('evt')])
    expect(Math.abs(timeOfId(id).getTime() - Date.now() - ahead)).toBeLessThan(1_000);
});

test('ids follow a clock that goes back by an hour, and keep their order when it goes back by less', () => {
  setAhead(HOUR_MS);
  const before = newId('evt');
  setAhead(HOUR_MS - 50_000);
  const after = newId('evt');
  expect(after > before).toBe(true);
  setAhead(0);
  expect(newId('evt') < before).toBe(true);
  expect(timeOfId(newId('evt')).getTime() - Date.now()).toBeLessThan(1_000);
});
