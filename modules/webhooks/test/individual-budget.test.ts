import { expect, test } from 'vitest';
import { IndividualBudget } from '../src/individual-budget.ts';
import { POLICY } from '../src/policy.ts';

const { initialPerSecond, minPerSecond, maxPerSecond } = POLICY.individual;
const START = Date.parse('2026-11-22T12:00:00Z');
const idsOf = (count: number) => Array.from({ length: count }, (_, n) => `dlv_${n}`);

/** Claims `count` deliveries in each of `seconds`, whose attempts begin `waitMs` later. Returns the time at the end. */
function run(
  budget: IndividualBudget,
  { count, waitMs, seconds }: Record<'count' | 'waitMs' | 'seconds', number>,
): number {
  let now = START;
  for (let second = 0; second < seconds; second++) {
    const ids = idsOf(count).map((id) => `${id}_${second}`);
    budget.recordClaimed(ids, now);
    budget.spend(count, now);
    for (const id of ids) budget.recordBegun(id, now + waitMs);
    now += 1000;
    budget.adapt(now);
  }
  return now;
}

test('a burst of what Temporal starts within two seconds is dispatched individually', () => {
  expect(new IndividualBudget(START).available(START)).toBe(2 * initialPerSecond);
});

test('while deliveries begin soon, more of them get their own workflow', () => {
  const budget = new IndividualBudget(START);
  run(budget, { count: 100, waitMs: 100, seconds: 60 });
  expect(budget.perSecond).toBeGreaterThan(100);
  expect(budget.perSecond).toBeLessThanOrEqual(maxPerSecond);
});

test('the rate does not grow beyond twice of what is used', () => {
  const budget = new IndividualBudget(START);
  run(budget, { count: 20, waitMs: 100, seconds: 300 });
  expect(budget.perSecond).toBeLessThanOrEqual(2 * 20 * POLICY.individual.growth);
});

test('when a delivery waits for more than two seconds, fewer get their own workflow', () => {
  const budget = new IndividualBudget(START);
  run(budget, { count: 10, waitMs: 2_500, seconds: 60 });
  expect(budget.perSecond).toBe(minPerSecond);
});

test('deliveries that never begin count as waiting, and leave no room', () => {
  const budget = new IndividualBudget(START);
  budget.recordClaimed(idsOf(2 * initialPerSecond), START);
  expect(budget.available(START, { isAlways: true })).toBe(0);
  budget.adapt(START + 3_000);
  expect(budget.perSecond).toBeLessThan(initialPerSecond);
  budget.forget(budget.waitingLongerThan(2_000, START + 3_000));
  expect(budget.available(START + 3_000, { isAlways: true })).toBeGreaterThan(0);
});

test('a sustained burst leaves no budget, except where every delivery has its own workflow', () => {
  const budget = new IndividualBudget(START);
  for (let second = 0; second < 10; second++) budget.spend(1_000, START + second * 1000);
  expect(budget.available(START + 10_000)).toBe(0);
  expect(budget.available(START + 10_000, { isAlways: true })).toBe(2 * initialPerSecond);
});
