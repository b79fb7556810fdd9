import { expect, test } from 'vitest';
import { datesOf, type Definition, graphProblems, matches, parseDefinition, withDefaults } from '../src/index.ts';

const manual = { type: 'manual' };
const wait = (id: string, next: string | null, hours = 1) => ({ id, type: 'wait', for: { hours }, next });
const branch = (id: string, yes: string | null, no: string | null) => ({
  id,
  type: 'condition',
  where: [{ property: 'plan', op: 'is', value: 'pro' }],
  yes,
  no,
});

function problemsOf(steps: unknown[]) {
  const { definition, problems } = parseDefinition({ entry: manual, steps });
  return definition === undefined ? problems : graphProblems(definition);
}

test.each([
  [1, 'definition.steps', 'must be an array'],
  [[1], 'definition.steps.0', 'must be an object'],
  [[[]], 'definition.steps.0', 'must be an object'],
])('steps of the wrong type are reported as such: %j', (steps, field, message) => {
  expect(parseDefinition({ entry: manual, steps }).problems).toEqual([{ field, message }]);
});

test('a valid definition has no problems, in camelCase or snake_case', () => {
  const steps = [
    { id: 'later', type: 'wait_for_event', event: 'paid', timeout: { days: 2 }, next: null, on_timeout: 'half' },
    {
      id: 'half',
      type: 'split',
      branches: [{ percent: 33.3, next: 'leave' }, { percent: 66.7 }],
    },
    { id: 'leave', type: 'leave_group', group_id: 'grp_1' },
  ];
  expect(problemsOf(steps)).toEqual([]);
  const { definition } = parseDefinition({ entry: manual, steps });
  expect(definition?.steps[0]).toMatchObject({ onTimeout: 'half' });
});

test.each([
  ['a step of an unknown type', [{ id: 'a', type: 'jump' }], 'definition.steps.0.type', /^must be one of: send, wait/],
  ['a missing value', [{ id: 'a', type: 'wait' }], 'definition.steps.0.for', /^is required$/],
  [
    'a value of another type',
    [{ id: 'a', type: 'send', templateId: 1, from: 'a@b.c' }],
    'definition.steps.0.templateId',
    /^must be a string$/,
  ],
  [
    'a number of another type',
    [{ id: 'a', type: 'split', branches: [{ percent: 'x' }, { percent: 10 }] }],
    'definition.steps.0.branches.0.percent',
    /^must be a number$/,
  ],
  [
    'a part of a number',
    [{ id: 'a', type: 'wait_until', time: '09:00', weekdays: [1.5] }],
    'definition.steps.0.weekdays.0',
    /^must be a whole number$/,
  ],
  [
    'something else than a list',
    [{ id: 'a', type: 'split', branches: 1 }],
    'definition.steps.0.branches',
    /^must be an array$/,
  ],
  [
    'something else than true or false',
    [{ id: 'a', type: 'send', templateId: 'x', from: 'a@b.c', transactional: 1 }],
    'definition.steps.0.transactional',
    /^must be true or false$/,
  ],
  ['an unknown property', [{ ...wait('a', null), when: 1 }], 'definition.steps.0.when', /^is not a known field$/],
  [
    'a wait of no time',
    [{ id: 'a', type: 'wait', for: { days: 0 } }],
    'definition.steps.0.for',
    /1 minute to 365 days/,
  ],
  [
    'percentages that do not add up',
    [{ id: 'a', type: 'split', branches: [{ percent: 10 }, { percent: 10 }] }],
    'definition.steps.0.branches',
    /100 percent/,
  ],
  ['a time that does not exist', [{ id: 'a', type: 'wait_until', time: '24:00' }], 'definition.steps.0.time', /09:00/],
  [
    'the name of an event of two lines',
    [{ id: 'a', type: 'wait_for_event', event: 'paid\nlate' }],
    'definition.steps.0.event',
    /one line/,
  ],
  [
    'the name of an event that reverses text',
    [{ id: 'a', type: 'wait_for_event', event: 'paid\u202e' }],
    'definition.steps.0.event',
    /direction|characters/,
  ],
  [
    'a value of no kind',
    [{ id: 'a', type: 'update_field', field: 'name', value: [] }],
    'definition.steps.0.value',
    /^must be a string, a number, true, false or null$/,
  ],
  [
    'a number that is too small',
    [{ id: 'a', type: 'wait', for: { days: -1 } }],
    'definition.steps.0.for.days',
    /^must be at least 0$/,
  ],
  ['a condition on nothing', [{ id: 'a', type: 'condition' }], 'definition.steps.0', /must have filter/],
])('%s is reported with its field and its step', (_, steps, field, message) => {
  expect(problemsOf(steps)).toContainEqual({ field, stepId: 'a', message: expect.stringMatching(message) });
});

test('a definition without steps, or with an unknown entry or time zone, is reported', () => {
  const { problems } = parseDefinition({ entry: { type: 'birthday' }, timeZone: 'Mars/Base', steps: [] });
  expect(problems.map(({ field }) => field).sort()).toEqual([
    'definition.entry.type',
    'definition.steps',
    'definition.timeZone',
  ]);
});

test.each([
  ['2026-11-24', {}, ['2026-11-24']],
  ['2026-11-24', { offsetDays: -3 }, ['2026-11-27']],
  ['2026-11-24', { yearly: true }, ['11-24']],
  ['2026-01-02', { yearly: true, offsetDays: 7 }, ['12-26']],
  ['2026-02-28', { yearly: true }, ['02-28', '02-29']],
  ['2028-02-28', { yearly: true }, ['02-28']],
  ['2028-02-29', { yearly: true }, ['02-29']],
  ['2026-03-01', { yearly: true, offsetDays: 1 }, ['02-28', '02-29']],
])('%s with %j is for %j', (day, entry, dates) => {
  expect(datesOf(day, entry)).toEqual(dates);
});

test.each([['sometimes'], [{ days: 3 }], [7]])('a reentry of %j is reported with what is allowed', (reentry) => {
  const { problems } = parseDefinition({ entry: manual, reentry, steps: [wait('a', null)] });
  expect(problems).toEqual([
    { field: 'definition.reentry', message: 'must be once, always, or after_days of 1 to 3650' },
  ]);
});

test('an unknown operator is reported with those that exist', () => {
  const where = [{ property: 'plan', op: 'equals', value: 'pro' }];
  const { problems } = parseDefinition({ entry: { type: 'event', event: 'paid', where }, steps: [wait('a', null)] });
  expect(problems).toEqual([
    {
      field: 'definition.entry.where.0.op',
      message: expect.stringMatching(/^must be one of: is, isNot, contains, [\w, ]+$/),
    },
  ]);
});

test('a step that leads nowhere, has the id of another, or is unreachable is reported by name', () => {
  expect(problemsOf([wait('a', 'b')])).toMatchObject([{ field: 'definition.steps.0.next', stepId: 'a' }]);
  expect(problemsOf([wait('a', null), wait('a', null)])).toMatchObject([{ field: 'definition.steps.1.id' }]);
  expect(problemsOf([wait('a', null), wait('b', 'a')])).toEqual([
    { field: 'definition.steps.1', stepId: 'b', message: 'the step "b" is unreachable: no step leads to it' },
  ]);
});

test('a loop is reported with its steps unless a step in it takes an hour', () => {
  const loop = (hours: number) => [
    branch('a', 'b', null),
    { ...wait('b', 'c', 0), for: { minutes: hours * 60 } },
    branch('c', 'a', null),
  ];
  expect(problemsOf(loop(1))).toEqual([]);
  expect(problemsOf(loop(0.5))).toMatchObject([{ message: expect.stringContaining('"a" → "b" → "c" → "a"') }]);
});

test('a condition on a message names a step that sends one', () => {
  const condition = { id: 'b', type: 'condition', message: { stepId: 'a', outcome: 'opened' } };
  expect(problemsOf([wait('a', 'b'), condition])).toMatchObject([{ field: 'definition.steps.1.message.stepId' }]);
});

test('a long chain is checked without recursion', () => {
  const chain = Array.from({ length: 200 }, (_, index) =>
    branch(`s${index}`, index === 199 ? null : `s${index + 1}`, null),
  );
  expect(graphProblems(parseDefinition({ entry: manual, steps: chain }).definition as Definition)).toEqual([]);
});

test('conditions on properties read paths, and a missing property equals nothing', () => {
  const properties = { plan: 'Pro', cart: { total: 20, items: ['book'] } };
  const passes = (property: string, op: string, value?: unknown) =>
    matches(properties, [{ property, op, ...(value === undefined ? {} : { value }) } as never]);
  expect(passes('cart.total', 'atLeast', 20)).toBe(true);
  expect(passes('cart.total', 'lessThan', 20)).toBe(false);
  expect(passes('cart.items', 'contains', 'book')).toBe(true);
  expect(passes('plan', 'contains', 'pro')).toBe(true);
  expect(passes('coupon', 'is', 'x')).toBe(false);
  expect(passes('coupon', 'isNot', 'x')).toBe(true);
  expect(passes('coupon', 'isNotSet')).toBe(true);
  expect(passes('toString', 'isSet')).toBe(false);
});

test('the operators of conditions may be written in snake_case', () => {
  const where = [
    { property: 'a_b', op: 'is_not', value: 'x_y' },
    { property: 'a', op: 'at_least', value: 1 },
  ];
  const { definition, problems } = parseDefinition({
    entry: { type: 'event', event: 'paid', where },
    steps: [{ id: 'a', type: 'exit' }],
  });
  expect(problems).toEqual([]);
  expect(definition?.entry).toMatchObject({
    where: [
      { property: 'a_b', op: 'isNot', value: 'x_y' },
      { property: 'a', op: 'atLeast', value: 1 },
    ],
  });
});

test('declared defaults fill properties that are missing, and nothing else', () => {
  const defaults = [
    { name: 'plan', value: 'free' },
    { name: 'cart.total', value: 0 },
    { name: 'plan.name', value: 'x' },
  ];
  expect(withDefaults({}, defaults)).toEqual({ plan: 'free', cart: { total: 0 } });
  expect(withDefaults({ plan: 'pro', cart: { total: 5 } }, defaults)).toEqual({ plan: 'pro', cart: { total: 5 } });
});
