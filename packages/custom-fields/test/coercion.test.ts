import { expect, test } from 'vitest';
import { coerce, COERCIONS, CUSTOM_FIELD_TYPES, type CustomFieldType, valueProblem } from '../src/index.ts';

const fieldOf = (type: CustomFieldType) => ({
  key: 'k',
  type,
  options: type === 'select' ? ['free', 'pro', 'true', '3'] : [],
});

test.each(CUSTOM_FIELD_TYPES)('each row of the table for %s does what its example says', (type) => {
  for (const { example } of COERCIONS[type]) expect(coerce(example.given, fieldOf(type))).toBe(example.stored);
});

test.each(CUSTOM_FIELD_TYPES)(
  'null is no value for a field of type %s, and objects and arrays are never valid',
  (type) => {
    expect(coerce(null, fieldOf(type))).toBeNull();
    expect(coerce({}, fieldOf(type))).toBeUndefined();
    expect(coerce(['pro'], fieldOf(type))).toBeUndefined();
  },
);

test.each<[CustomFieldType, unknown]>([
  ['text', 'x'.repeat(5001)],
  ['text', 'a\0b'],
  ['text', '\ud800'],
  ['number', 'twelve'],
  ['number', '1,5'],
  ['number', '0x10'],
  ['number', '12345678901234567890'],
  ['number', '1e999'],
  ['number', true],
  ['boolean', 'maybe'],
  ['boolean', 2],
  ['date', '2026-02-30'],
  ['date', '2026-1-2'],
  ['date', '21.11.2026'],
  ['date', 'yesterday'],
  ['date', '2026-11-21T25:00:00Z'],
  ['date', 1_700_000_000],
  ['date', true],
  ['select', 'enterprise'],
  ['select', 4],
  ['select', false],
])('a %s cannot be coerced from %j', (type, given) => {
  expect(coerce(given, fieldOf(type))).toBeUndefined();
});

test.each<[CustomFieldType, unknown, unknown]>([
  ['text', '', ''],
  ['text', '\n\u00a0In  lines\nand \u200bspaces\t', 'In  lines\nand \u200bspaces'],
  ['text', ` ${'x'.repeat(5000)} `, 'x'.repeat(5000)],
  ['number', '-1.50', -1.5],
  ['number', '.5', 0.5],
  ['number', '1e3', 1000],
  ['number', '1e300', undefined],
  ['number', '-9007199254740993e0', undefined],
  ['number', '1000000000000000000000', undefined],
  ['number', '1e-400', undefined],
  ['number', '-0.00', -0],
  ['number', '+0015.10e-2', 0.151],
  ['number', '0.30000000000000004', 0.1 + 0.2],
  ['number', '0.30000000000000001', undefined],
  ['number', '9007199254740991', Number.MAX_SAFE_INTEGER],
  ['number', '1234567890123456', 1_234_567_890_123_456],
  ['number', '12345678901234.567', undefined],
  ['boolean', 'OFF', false],
  ['date', ' 2024-02-29 ', '2024-02-29'],
  ['date', '2026-11-21 09:30', '2026-11-21'],
  ['date', '2026-11-21T09:30:00.123456+0530', '2026-11-21'],
  ['select', 'Pro', 'pro'],
])('a %s from %j is %j', (type, given, stored) => {
  expect(coerce(given, fieldOf(type))).toBe(stored);
});

test('any number is read from its text, as an export writes it', () => {
  for (const value of [
    0.1 + 0.2,
    1 / 3,
    1e-7,
    5e-324,
    Number.MAX_SAFE_INTEGER,
    -Number.MAX_SAFE_INTEGER,
    1e15,
    2 / 7e9,
  ])
    expect(coerce(String(value), fieldOf('number'))).toBe(value);
});

test.each<[CustomFieldType, unknown, string]>([
  ['number', 'twelve', 'must be a number'],
  ['number', '12345678901234567890', 'has more digits than a number can hold: a field of type text can have it'],
  ['text', 'a\0b', 'must not contain the NUL character'],
  ['text', 'x'.repeat(5001), 'must be at most 5000 characters'],
  ['text', [], 'must be a string'],
  ['date', 1, 'must be a date such as 2026-11-21'],
])('the problem of a %s from %j is %j', (type, given, problem) => {
  expect(valueProblem(given, fieldOf(type))).toBe(problem);
});
