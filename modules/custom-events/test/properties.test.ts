import { expect, test } from 'vitest';
import { checkEvent } from '../src/check-event.ts';
import { checkProperties, MAX_PROPERTIES_BYTES, MAX_PROPERTY_VALUES } from '../src/properties.ts';

const NOW = Date.parse('2026-11-21T09:30:00Z');
const problemOf = (work: () => unknown): string => {
  try {
    work();
    return 'none';
  } catch (error) {
    return (error as Error).message;
  }
};

test('members of objects are properties with a path, and arrays are values', () => {
  const { observed } = checkProperties({
    cart: { total: 49.9, items: [{ sku: 'A' }], empty: {} },
    paid: true,
    at: '2026-11-21T09:30:00Z',
    day: '2026-11-21',
    code: '2026-99-99',
    nothing: null,
  });
  expect(Object.fromEntries(observed.map(({ name, type }) => [name, type]))).toEqual({
    'cart.total': 'number',
    'cart.items': 'array',
    'cart.empty': 'object',
    paid: 'boolean',
    at: 'date',
    day: 'date',
    code: 'string',
  });
});

test('examples are shortened without cutting a character in half', () => {
  const { observed } = checkProperties({ text: `${'a'.repeat(99)}😀` });
  expect(observed[0]?.example).toHaveLength(100);
  expect(observed[0]?.example.isWellFormed()).toBe(true);
});

test('properties beyond a limit are rejected by name', () => {
  const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
  expect(problemOf(() => checkProperties([1]))).toBe('properties: must be an object');
  expect(problemOf(() => checkProperties(nested(5)))).toBe('none');
  expect(problemOf(() => checkProperties(nested(6)))).toBe('properties.a.a.a.a.a: is nested more than 5 levels deep');
  expect(problemOf(() => checkProperties({ text: 'a'.repeat(MAX_PROPERTIES_BYTES) }))).toContain('16384 bytes');
  const many = Object.fromEntries(Array.from({ length: MAX_PROPERTY_VALUES + 1 }, (_, index) => [`p${index}`, 1]));
  expect(problemOf(() => checkProperties(many))).toBe('properties: must have at most 250 values');
  expect(problemOf(() => checkProperties({ list: Array.from({ length: 250 }, () => 1) }))).toContain('250 values');
  expect(problemOf(() => checkProperties({ ['k'.repeat(101)]: 1 }))).toContain('1 to 100 characters');
  expect(problemOf(() => checkProperties({ a: { ' ': 1 } }))).toBe('properties.a: has a blank key');
  expect(problemOf(() => checkProperties({ a: { b: 'x\0' } }))).toBe(
    'properties.a.b: must not contain the NUL character',
  );
});

test('an event needs a name, one contact and a time that is neither too old nor in the future', () => {
  const check = (input: object) => problemOf(() => checkEvent({ name: 'a', email: 'ada@example.com', ...input }, NOW));
  expect(check({})).toBe('none');
  expect(check({ name: undefined })).toBe('name: is required');
  expect(check({ name: '  ' })).toBe('name: is required');
  expect(check({ name: 'a\nb' })).toBe('name: must be one line without control characters (it has U+000A)');
  expect(check({ email: undefined })).toBe('contactId: is required, unless the event has an email');
  expect(check({ contactId: 'ctc_1' })).toBe('email: must not be combined with contactId');
  expect(check({ email: 'ada@' })).toMatch(/^email: /);
  expect(check({ id: '' })).toBe('id: must be 1 to 200 characters');
  expect(check({ occurredAt: 'yesterday' })).toMatch(/^occurredAt: must be an ISO 8601/);
  expect(check({ occurredAt: '2026-10-22T09:30:00Z' })).toBe('none');
  expect(check({ occurredAt: '2026-10-22T09:29:59Z' })).toBe('occurredAt: must be within the last 30 days');
  expect(check({ occurredAt: '2026-11-21T09:35:00Z' })).toBe('none');
  expect(check({ occurredAt: '2026-11-21T09:35:01Z' })).toBe('occurredAt: must be at most 5 minutes in the future');
});
