import { expect, test } from 'vitest';
import { COSTS, demandOf, fitSharing, MIXES, type Mix } from '../src/index.ts';

test('the sharing factor is that with which a mix was made', () => {
  const [mix] = MIXES as [Mix];
  for (const factor of [1, 1.4, 2]) {
    const used = demandOf(mix.rates, { ...COSTS, sharing: { ...COSTS.sharing, factor } });
    expect(fitSharing({ ...mix, used }, COSTS)).toBe(factor);
  }
});

test('many small campaigns cost more than one large one', () => {
  const [{ rates }] = MIXES as [Mix];
  const few = demandOf({ ...rates, campaignStart: 0 }, COSTS);
  const many = demandOf({ ...rates, campaignStart: 5 }, COSTS);
  expect(many.cpu.worker - few.cpu.worker).toBeGreaterThan(0.1);
  expect(many.actions).toBeGreaterThan(few.actions);
});
