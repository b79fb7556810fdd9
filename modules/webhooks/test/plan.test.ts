import { expect, test } from 'vitest';
import { plan, planRetries, type Take, type EndpointQueue } from '../src/plan.ts';
import { POLICY } from '../src/policy.ts';

const now = Date.parse('2026-11-21T12:00:00Z');
const LIMITS = { individually: 20, mayBatch: true, maxInFlight: 6_000, inFlight: 0, now };

const endpoint = (endpointId: string, more: Partial<EndpointQueue> = {}): EndpointQueue => ({
  endpointId,
  projectId: endpointId,
  projectInFlight: 0,
  waiting: 1,
  failuresInRow: 0,
  isHealthy: false,
  attempting: 0,
  retrying: 0,
  servedAt: 0,
  ...more,
});
const many = (count: number, more: Partial<EndpointQueue>) =>
  Array.from({ length: count }, (_, n) => endpoint(`e${n}`, more));

const taken = (takes: Take[]) => Object.fromEntries(takes.map(({ endpointId, take }) => [endpointId, take]));
const sizes = (takes: Take[]) => {
  const batches = Map.groupBy(takes, ({ batch }) => batch);
  return [...batches.values()].map((members) => members.reduce((sum, { take }) => sum + take, 0));
};

test('normal traffic dispatches each delivery individually', () => {
  const takes = plan([endpoint('a', { waiting: 3 }), endpoint('b')], LIMITS);
  expect(taken(takes)).toEqual({ a: 3, b: 1 });
  expect(takes.every(({ batch }) => batch === null)).toBe(true);
});

test('a long queue to one endpoint is dispatched in batches of up to 600', () => {
  const takes = plan([endpoint('a', { waiting: 600, isHealthy: true })], LIMITS);
  expect(takes).toEqual([{ endpointId: 'a', take: 600, batch: expect.stringMatching(/^batch_/) }]);
});

test('the first deliveries of a burst are batched too', () => {
  expect(sizes(plan([endpoint('a', { waiting: 100 })], LIMITS))).toEqual([10]);
});

test('endpoints with few deliveries share batches of at most 600', () => {
  expect(sizes(plan(many(260, { waiting: 5 }), LIMITS))).toEqual([600, 600, 100]);
});

test('demands of up to half a batch share one, and larger ones get their own', () => {
  const waiting = (rows: number) => many(4, { waiting: rows, isHealthy: true });
  expect(sizes(plan(waiting(200), { ...LIMITS, individually: 0 }))).toEqual([600, 200]);
  expect(sizes(plan(waiting(400), { ...LIMITS, individually: 0 }))).toEqual([400, 400, 400, 400]);
});

test('an endpoint has few attempts in flight until it acknowledges, and at most three batches then', () => {
  const take = (more: Partial<EndpointQueue>) =>
    taken(plan([endpoint('a', { waiting: 600, ...more })], { ...LIMITS, individually: 0 }));
  expect(take({})).toEqual({ a: 10 });
  expect(take({ attempting: 10 })).toEqual({});
  expect(take({ attempting: 1750, isHealthy: true })).toEqual({ a: 50 });
  expect(take({ attempting: 1800, isHealthy: true })).toEqual({});
  expect(take({ retrying: 10, isHealthy: true })).toEqual({ a: 600 });
});

test('at most three batches are claimed per round, attempts in flight are bounded, and the least recently served endpoints come first', () => {
  const waiting = many(100, { waiting: 600, isHealthy: true }).map((one, n) => ({ ...one, servedAt: 100 - n }));
  const takes = plan(waiting, { ...LIMITS, individually: 0, inFlight: 2_950 });
  expect(sizes(takes)).toEqual([600, 600, 600]);
  expect(takes[0]?.endpointId).toBe('e99');
  expect(sizes(plan(waiting, { ...LIMITS, individually: 0, inFlight: 4_750 }))).toEqual([600, 600, 50]);
  expect(plan(waiting, { ...LIMITS, individually: 0, inFlight: 6_000 })).toEqual([]);
});

test('small demands are met before large ones, and a project leaves as much capacity free as it takes', () => {
  const waiting = [endpoint('big', { waiting: 100, isHealthy: true }), endpoint('small', { waiting: 2, servedAt: 9 })];
  expect(taken(plan(waiting, { ...LIMITS, individually: 0, inFlight: 5_990 }))).toEqual({
    big: 5,
    small: 2,
  });
});

test('a project with many hanging endpoints takes at most half the capacity and delays others by at most one round', () => {
  const ofOne = { projectId: 'noisy', waiting: 600, projectInFlight: 2_000 };
  const noisy = many(200, ofOne);
  const quiet = endpoint('quiet', { waiting: 3, servedAt: 9 });
  const room = { ...LIMITS, individually: 0, inFlight: 2_000 };
  const takes = taken(plan([...noisy, quiet], room));
  expect(takes.quiet).toBe(3);
  const { quiet: _, ...rest } = takes;
  expect(Object.values(rest).reduce((sum, take) => sum + take, 0)).toBe(1_000);
  const full = taken(plan([...many(200, { ...ofOne, projectInFlight: 3_000 }), quiet], { ...room, inFlight: 3_000 }));
  expect(full).toEqual({ quiet: 3 });
});

test('a degraded endpoint gets few deliveries, individually, then a probe every half minute', () => {
  const degraded = (more: Partial<EndpointQueue>) =>
    plan([endpoint('s', { waiting: 100, failuresInRow: 10, ...more })], { ...LIMITS, individually: 0 });
  expect(degraded({ retrying: 8 })).toEqual([{ endpointId: 's', take: 2, batch: null }]);
  expect(degraded({ attempting: 2, retrying: 8 })).toEqual([]);
  expect(degraded({ retrying: 10, servedAt: now - POLICY.endpoint.probeIntervalMs + 1 })).toEqual([]);
  expect(taken(degraded({ retrying: 10, servedAt: now - POLICY.endpoint.probeIntervalMs }))).toEqual({ s: 1 });
});

test('degraded or hanging endpoints do not delay others', () => {
  const dead = many(100, { waiting: 100, failuresInRow: 500, retrying: 20, servedAt: now });
  const hanging = many(100, { waiting: 100, attempting: 10 });
  const well = endpoint('well', { waiting: 100, isHealthy: true });
  expect(taken(plan([...dead, ...hanging, well], { ...LIMITS, individually: 0, inFlight: 1_000 }))).toEqual({
    well: 100,
  });
});

test('what may not be batched waits until there is room for its own workflow', () => {
  const takes = plan([endpoint('a', { waiting: 8 }), endpoint('b', { waiting: 600, isHealthy: true })], {
    ...LIMITS,
    mayBatch: false,
  });
  expect(taken(takes)).toEqual({ a: 8, b: 12 });
  expect(takes.every(({ batch }) => batch === null)).toBe(true);
});

test('the number of first attempts in flight is what the setting allows', () => {
  const waiting = many(100, { waiting: 600, isHealthy: true });
  const takes = (maxInFlight: number) =>
    sizes(plan(waiting, { ...LIMITS, individually: 0, inFlight: 6_000, maxInFlight }));
  expect(takes(6_000)).toEqual([]);
  expect(takes(12_000)).toEqual([600, 600, 600]);
});

const retries = { individually: 20, mayBatch: true, inFlight: 0, maxInFlight: 1_500 };

test('due retries of all endpoints share batches, however few they are', () => {
  expect(sizes(planRetries([endpoint('a'), endpoint('b', { waiting: 3 })], retries))).toEqual([4]);
  const ofOne = { waiting: 600, isHealthy: true, projectId: 'one' };
  expect(sizes(planRetries([...many(2, ofOne), endpoint('z', { waiting: 600, isHealthy: true })], retries))).toEqual([
    600, 600, 150,
  ]);
});

test('a degraded endpoint has ten retries in flight, however many are due, after those of the other endpoints', () => {
  const dead = endpoint('dead', { waiting: 600, failuresInRow: 1_000_000 });
  const well = endpoint('well', { waiting: 5, servedAt: now });
  expect(taken(planRetries([dead, well], retries))).toEqual({ well: 5, dead: 10 });
  expect(planRetries([{ ...dead, attempting: 10 }], retries)).toEqual([]);
  expect(taken(planRetries([dead, well], { ...retries, inFlight: 1_490 }))).toEqual({ well: 5, dead: 5 });
});

test('an endpoint without a due retry gets no batch', () => {
  expect(planRetries([endpoint('a', { waiting: 0 })], retries)).toEqual([]);
});

test('with a workflow for each delivery, due retries wait until Temporal takes them', () => {
  const takes = planRetries([endpoint('a', { waiting: 8 }), endpoint('b', { waiting: 600, isHealthy: true })], {
    ...retries,
    mayBatch: false,
  });
  expect(taken(takes)).toEqual({ a: 8, b: 12 });
  expect(takes.every(({ batch }) => batch === null)).toBe(true);
});
