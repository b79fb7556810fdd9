import { expect, test } from 'vitest';
import {
  COSTS,
  demandOf,
  demandParts,
  erlangC,
  errorsOf,
  MIXES,
  OPERATIONS,
  type Operation,
  predict,
  PROGRAMS,
  type Rates,
  readParameters,
  SETTINGS,
  waitAt,
  WORKLOAD,
} from '../src/index.ts';

/** The largest error of any mix: docs/decisions/capacity-model.md. */
const STATED_ERRORS = { 'all programs, cores': 0.2, 'database, KB/s': 0.2, 'WAL, KB/s': 0.35, 'writes/s': 0.25 };
const NAMES = Object.keys(OPERATIONS) as Operation[];
const none = Object.fromEntries(NAMES.map((name) => [name, 0])) as Rates;
const ofWorkload = (given: Record<string, number>, settings: Record<string, number> = {}) =>
  predict(readParameters(WORKLOAD, given), readParameters(SETTINGS, settings), COSTS);
const busy = {
  emailsPerDay: 5e6,
  contacts: 1e6,
  webhooksPerEmail: 1,
  importedContactsPerDay: 1e5,
  createdContactsPerDay: 1e5,
  readsPerDay: 1e6,
  eventsPerDay: 1e6,
  journeyStepsPerDay: 1e6,
};

test.each(NAMES)('more of the operation %s never needs less of anything', (name) => {
  let before = demandOf(none, COSTS, { extent: 'up to' });
  for (let rate = 1; rate < 20_000; rate *= 1.3) {
    const demand = demandOf({ ...none, [name]: rate }, COSTS, { extent: 'up to' });
    for (const program of PROGRAMS) expect(demand.cpu[program]).toBeGreaterThanOrEqual(before.cpu[program]);
    for (const of of ['walBytes', 'writes', 'actions'] as const) expect(demand[of]).toBeGreaterThanOrEqual(before[of]);
    before = demand;
  }
});

test.each(Object.keys(busy))('a larger %s never needs fewer machines, less disk or less money', (name) => {
  let before = ofWorkload({ ...busy, [name]: 0 });
  for (const factor of [0.5, 1, 2, 4, 8]) {
    const next = ofWorkload({ ...busy, [name]: (busy[name as keyof typeof busy] ?? 0) * factor });
    for (const program of PROGRAMS)
      expect(next.programs[program].cores).toBeGreaterThanOrEqual(before.programs[program].cores);
    expect(next.machines).toBeGreaterThanOrEqual(before.machines);
    expect(next.diskGb).toBeGreaterThanOrEqual(before.diskGb);
    expect(next.pricePerMonth.total).toBeGreaterThanOrEqual(before.pricePerMonth.total);
    expect(next.shards).toBeGreaterThanOrEqual(before.shards);
    before = next;
  }
});

test('the demand is the sum of its parts, and the idle programs alone without load', () => {
  const rates = Object.fromEntries(NAMES.map((name, at) => [name, 3 * (at + 1)])) as Rates;
  const whole = demandOf(rates, COSTS);
  const parts = Object.values(demandParts(rates, COSTS));
  for (const program of PROGRAMS)
    expect(whole.cpu[program]).toBeCloseTo(
      parts.reduce((sum, { cpu }) => sum + cpu[program], 0),
      9,
    );
  expect(whole.walBytes).toBeCloseTo(
    parts.reduce((sum, { walBytes }) => sum + walBytes, 0),
    6,
  );
  const idle = demandOf(none, COSTS);
  expect(idle.cpu.worker * 1e6).toBeCloseTo(COSTS.idle.cpuUs.worker, 6);
  expect(Object.values(idle.bytes).every((bytes) => bytes === 0)).toBe(true);
});

test('the longer between checkpoints, the less PostgreSQL logs and writes', () => {
  const rates = Object.fromEntries(NAMES.map((name) => [name, 5])) as Rates;
  const [short, long] = [60, 600].map((checkpointSeconds) => demandOf(rates, COSTS, { checkpointSeconds }));
  expect(long?.walBytes).toBeLessThan(short?.walBytes ?? 0);
  expect(long?.writes).toBeLessThan(short?.writes ?? 0);
  expect(long?.cpu).toEqual(short?.cpu);
});

test('mixes of all operations were predicted as well as the docs state', () => {
  expect(MIXES.length).toBeGreaterThanOrEqual(3);
  for (const mix of MIXES)
    for (const [resource, stated] of Object.entries(STATED_ERRORS))
      expect(Math.abs(errorsOf(mix, COSTS)[resource]?.error ?? Infinity), `${resource}, size ${mix.size}`).toBeLessThan(
        stated,
      );
});

test('the data are those of the retention times, of contacts and of nothing else', () => {
  const { databaseBytes } = ofWorkload(busy);
  const { total, ...classes } = databaseBytes;
  expect(Object.values(classes).reduce((sum, bytes) => sum + bytes, 0)).toBeCloseTo(total, 0);
  const longer = ofWorkload({ ...busy, messageRetentionDays: 180 }).databaseBytes;
  expect(longer.messages / databaseBytes.messages).toBeCloseTo(2, 9);
  expect(longer.events).toBe(databaseBytes.events);
});

test('machines with faster cores need fewer of them', () => {
  const much = { ...busy, emailsPerDay: 2e8 };
  const [slow, fast] = [ofWorkload(much), ofWorkload(much, { coreSpeed: 2 })];
  expect(fast.programs.worker.peak).toBeCloseTo(slow.programs.worker.peak / 2, 9);
  expect(fast.pricePerMonth.cores).toBeLessThan(slow.pricePerMonth.cores);
});

test('webhooks that always fail are attempted six times', () => {
  const attempts = (webhookFailureRate: number) => ofWorkload({ ...busy, webhookFailureRate }).rates.average.delivery;
  expect(attempts(1) / attempts(0)).toBeCloseTo(6, 9);
  expect(attempts(0.5) / attempts(0)).toBeCloseTo(2 - 2 ** -5, 9);
});

test('the largest campaign raises the peak of mail, opens and webhooks, not the average', () => {
  const [without, having] = [ofWorkload(busy), ofWorkload({ ...busy, largestCampaign: 6e6, sendWithinMinutes: 10 })];
  expect(having.rates.peak.campaign).toBe(10_000);
  expect(having.rates.peak.hit).toBeGreaterThan(without.rates.peak.hit);
  expect(having.rates.peak.email).toBe(without.rates.peak.email);
  expect(having.rates.average).toEqual(without.rates.average);
});

test('the first limit is the one that is used most, such as a slow relay', () => {
  const { bottlenecks } = ofWorkload(busy, { relayPerSecond: 100 });
  expect(bottlenecks[0]?.resource).toBe('relay');
  expect(bottlenecks.map(({ utilization }) => utilization)).toEqual(
    bottlenecks.map(({ utilization }) => utilization).toSorted((a, b) => b - a),
  );
});

test('a wait is that of the textbook, and infinite when more arrives than can be served', () => {
  // M/M/1: W = ρ / (μ - λ). M/M/2 with a = 1: C = 1/3, W = C / (2μ - λ).
  expect(waitAt(1, [{ rate: 50, seconds: 0.01 }]).mean).toBeCloseTo(0.5 / 50, 9);
  expect(erlangC(2, 1)).toBeCloseTo(1 / 3, 9);
  expect(waitAt(2, [{ rate: 100, seconds: 0.01 }]).mean).toBeCloseTo(1 / 3 / 100, 9);
  expect(waitAt(2, [{ rate: 201, seconds: 0.01 }]).mean).toBe(Infinity);
  expect(waitAt(4, []).mean).toBe(0);
});

test('long jobs among short ones make all of them wait longer', () => {
  const alike = waitAt(2, [{ rate: 100, seconds: 0.01 }]);
  const mixed = waitAt(2, [
    { rate: 90, seconds: 0.001 },
    { rate: 10, seconds: 0.091 },
  ]);
  expect(mixed.mean).toBeGreaterThan(alike.mean);
});

test.each([
  [{ emailsPerDay: -1 }, 'emailsPerDay must be a number from 0 to'],
  [{ webhookFailureRate: 2 }, 'webhookFailureRate must be a number from 0 to 1, not 2.'],
  [{ retentionDays: '30' }, 'retentionDays must be a number from 1 to 3650, not "30".'],
  [{ peakFactor: Number.NaN }, 'peakFactor must be a number from 1 to 10000, not NaN.'],
  [{ mailsPerDay: 1 }, 'mailsPerDay is unknown; the names are emailsPerDay, '],
  [{ toString: 1 }, 'toString is unknown'],
])('bad input is rejected by name: %j', (given, message) => {
  expect(() => readParameters(WORKLOAD, given)).toThrow(message);
});
