import { expect, test } from 'vitest';
import { keyFor, keyFrom, TypeGuess } from '../src/index.ts';

const typeOf = (values: readonly string[]) => {
  const guess = new TypeGuess();
  for (const value of values) guess.add(value);
  return guess.type;
};
const forty = (value: (index: number) => string) => Array.from({ length: 40 }, (_, index) => value(index));

test.each([
  ['number', forty((index) => (index === 7 ? 'many' : String(index)))],
  ['text', forty((index) => `0${1000 + index}`)],
  ['date', forty((index) => (index === 7 ? '' : `2024-02-${10 + (index % 10)}`))],
  ['boolean', forty((index) => (index % 2 === 0 ? 'yes' : 'No'))],
  ['text', forty((index) => `t${index}`)],
])('a column is a %s if most of its values are', (type, values) => {
  expect(typeOf(values)).toEqual({ type });
});

test('a few values that repeat are the options of a select', () => {
  expect(typeOf(forty((index) => ['b', 'a'][index % 2] as string))).toEqual({ type: 'select', options: ['a', 'b'] });
});

test.each([
  ['all in one other form', ['04/03/2026']],
  ['in several forms', ['2026-03-04', '04/03/2026', '4.3.2026', 'March 4, 2026', '4 Mar 2026']],
  ['with times', ['2026-03-04 10:11:12', '2026-03-04T10:11:12Z']],
])('dates %s are text, never options, and reported', (_forms, forms) => {
  const guess = new TypeGuess();
  for (const value of forty((index) => forms[index % forms.length] as string)) guess.add(value);
  expect([guess.type, guess.hasOtherDates]).toEqual([{ type: 'text' }, true]);
});

test.each([
  [['2026-03-04']],
  [['1.2.10', '10.20.30.40']],
  [['Room 4, 2026 Main Street and further']],
  [['pro', 'free']],
  [['']],
])('%j are not reported as dates in other forms', (values) => {
  const guess = new TypeGuess();
  for (const value of forty((index) => values[index % values.length] as string)) guess.add(value);
  expect(guess.hasOtherDates).toBe(false);
});

test('keys are distinct Latin words, and none is the name of a placeholder', () => {
  expect(keyFrom('VIP-Kunde (ja/nein)')).toBe('vip_kunde_ja_nein');
  expect(keyFrom(`${'a'.repeat(39)}-b`)).toBe('a'.repeat(39));
  expect(keyFor('Código postal', 3, new Set())).toBe('codigo_postal');
  expect(keyFor('Город', 7, new Set())).toBe('column_8');
  expect(keyFor('id', 1, new Set())).toBe('csv_id');
  expect(keyFor('Postal address', 1, new Set())).toBe('csv_postal_address');
  for (const name of ['event', 'steps', 'form_title', 'confirm_url'])
    expect(keyFor(name, 1, new Set())).toBe(`csv_${name}`);
  expect(keyFor('tag', 2, new Set(['tag']))).toBe('tag_3');
});
