import { expect, test } from 'vitest';
import { changesBetween, MAX_CHANGES, MAX_VALUE_LENGTH } from '../src/audit-changes.ts';

test('only values that differ are changes; null and undefined are equal', () => {
  const at = new Date('2026-11-22T10:00:00Z');
  const before = { name: 'News', subject: undefined, tags: ['a'], at, rate: 5 };
  const after = { name: 'News', subject: null, tags: ['a', 'b'], at: new Date(at), rate: null };
  expect(changesBetween(before, after)).toEqual([
    { field: 'tags', before: ['a'], after: ['a', 'b'] },
    { field: 'rate', before: 5, after: null },
  ]);
});

test('members of an object are compared one by one', () => {
  expect(
    changesBetween({ customFields: { plan: 'free', age: 3 } }, { customFields: { age: 3, city: 'Oslo', plan: 'pro' } }),
  ).toEqual([
    { field: 'customFields.plan', before: 'free', after: 'pro' },
    { field: 'customFields.city', before: null, after: 'Oslo' },
  ]);
});

test('long values are shortened and many changes are cut off, so that an entry has a limit', () => {
  const long = 'x'.repeat(100_000);
  const [change] = changesBetween({ html: '' }, { html: long });
  expect(change?.after).toBe(`${'x'.repeat(MAX_VALUE_LENGTH)}… (100,000 characters)`);
  const [list] = changesBetween({ ids: [] }, { ids: Array.from({ length: 1000 }, () => 'grp_1') });
  expect(String(list?.after).length).toBeLessThan(MAX_VALUE_LENGTH + 30);
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`field${index}`, index]));
  expect(changesBetween({}, many)).toHaveLength(MAX_CHANGES);
});

test('a text that is cut within an emoji can be stored', () => {
  const [change] = changesBetween({ html: '' }, { html: `${'x'.repeat(MAX_VALUE_LENGTH - 1)}😀😀` });
  expect(String(change?.after).isWellFormed()).toBe(true);
});

test('long texts that differ only after the cut are still a change', () => {
  const start = 'x'.repeat(MAX_VALUE_LENGTH);
  expect(changesBetween({ html: `${start}a` }, { html: `${start}bc` })).toHaveLength(1);
});
