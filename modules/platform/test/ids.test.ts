import { expect, test } from 'vitest';
import { idsFrom, isId, newId } from '../src/ids.ts';

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
  const ms = Date.now() + 5;
  const from = idsFrom('evt', new Date(ms));
  expect(isId('evt', from)).toBe(true);
  expect(earlier < from).toBe(true);
  expect(idsFrom('evt', new Date(ms - 1)) < from).toBe(true);
  while (Date.now() < ms);
  expect(newId('evt') > from).toBe(true);
  expect(idsFrom('evt', new Date(-1))).toBe(`evt_${'0'.repeat(26)}`);
  expect(idsFrom('evt', new Date(2 ** 50)) > newId('evt')).toBe(true);
});
