import { expect, test } from 'vitest';
import { labelInterval, labelWidth, ticksUpTo } from '../src/components/chart-scale.ts';

test.each([
  { highest: 0, ticks: [0] },
  { highest: 1, ticks: [0, 1] },
  { highest: 7, ticks: [0, 2, 4, 6, 8] },
  { highest: 20, ticks: [0, 5, 10, 15, 20] },
  { highest: 2010, ticks: [0, 500, 1000, 1500, 2000, 2500] },
])('the axis of counts up to $highest has whole, round numbers', ({ highest, ticks }) => {
  expect(ticksUpTo(highest, true)).toEqual(ticks);
});

test.each([
  { highest: 0, ticks: [0] },
  { highest: 0.0033, ticks: [0, 0.001, 0.002, 0.003, 0.004] },
  { highest: 0.022, ticks: [0, 0.005, 0.01, 0.015, 0.02, 0.025] },
  { highest: 1, ticks: [0, 0.2, 0.4, 0.6, 0.8, 1] },
])('the axis of rates up to $highest has round fractions', ({ highest, ticks }) => {
  expect(ticksUpTo(highest, false).map((tick) => Number(tick.toFixed(9)))).toEqual(ticks);
});

test('an axis never has more than six values nor ends below the highest', () => {
  for (let highest = 1; highest < 5000; highest += 7) {
    const ticks = ticksUpTo(highest, true);
    expect(ticks.length).toBeLessThanOrEqual(6);
    expect(ticks.at(-1)).toBeGreaterThanOrEqual(highest);
  }
});

test('labels of an axis that would touch are left out', () => {
  expect(labelInterval(['1 Nov', '2 Nov'], 200)).toBe(1);
  expect(labelInterval(['1 Nov', '12 Nov'], 20)).toBe(4);
});

test('the axis of rates has room for its percent signs', () => {
  // As wide as browsers draw them.
  expect(labelWidth('4%')).toBeGreaterThan(21.3);
  expect(labelWidth('0.5%')).toBeGreaterThan(33.2);
});
