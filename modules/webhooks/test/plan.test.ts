import { expect, test } from 'vitest';
import { plan, PROBE_EVERY_MS, type Take, type EndpointQueue } from '../src/plan.ts';

const now = Date.parse('2026-11-21T12:00:00Z');

const endpoint = (endpointId: string, more: Partial<EndpointQueue> = {}): EndpointQueue => ({
  endpointId,
  projectId: endpointId,
  projectInHand: 0,
  waiting: 1,
  failuresInRow: 0,
  isFlowing: false,
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

test('in normal traffic each delivery goes alone', () => {
  const takes = plan([endpoint('a', { waiting: 3 }), endpoint('b')], { alone: 20, inHand: 0, now });
  expect(taken(takes)).toEqual({ a: 3, b: 1 });
  expect(takes.every(({ batch }) => batch === null)).toBe(true);
});

test('when many wait for an endpoint, up to 600 go in one batch', () => {
  const takes = plan([endpoint('a', { waiting: 600, isFlowing: true })], { alone: 20, inHand: 0, now });
  expect(takes).toEqual([{ endpointId: 'a', take: 600, batch: expect.stringMatching(/^batch_/) }]);
});

test('the first few of a burst go in a batch too', () => {
  expect(sizes(plan([endpoint('a', { waiting: 100 })], { alone: 20, inHand: 0, now }))).toEqual([10]);
});

test('few deliveries each for many endpoints share batches of at most 600', () => {
  expect(sizes(plan(many(260, { waiting: 5 }), { alone: 20, inHand: 0, now }))).toEqual([600, 600, 100]);
});

test('parts of up to half a batch share one, and more goes alone', () => {
  const waiting = (rows: number) => many(4, { waiting: rows, isFlowing: true });
  expect(sizes(plan(waiting(200), { alone: 0, inHand: 0, now }))).toEqual([600, 200]);
  expect(sizes(plan(waiting(400), { alone: 0, inHand: 0, now }))).toEqual([400, 400, 400, 400]);
});

test('an endpoint has few in hand until it is seen to acknowledge, and at most three batches then', () => {
  const take = (more: Partial<EndpointQueue>) =>
    taken(plan([endpoint('a', { waiting: 600, ...more })], { alone: 0, inHand: 0, now }));
  expect(take({})).toEqual({ a: 10 });
  expect(take({ attempting: 10 })).toEqual({});
  expect(take({ attempting: 1750, isFlowing: true })).toEqual({ a: 50 });
  expect(take({ attempting: 1800, isFlowing: true })).toEqual({});
  expect(take({ retrying: 1000, isFlowing: true })).toEqual({});
});

test('however many endpoints wait, three batches are taken at a time, what is in hand is bounded, and those served longest ago come first', () => {
  const waiting = many(100, { waiting: 600, isFlowing: true }).map((one, n) => ({ ...one, servedAt: 100 - n }));
  const takes = plan(waiting, { alone: 0, inHand: 2_950, now });
  expect(sizes(takes)).toEqual([600, 600, 600]);
  expect(takes[0]?.endpointId).toBe('e99');
  expect(sizes(plan(waiting, { alone: 0, inHand: 4_750, now }))).toEqual([600, 600, 50]);
  expect(plan(waiting, { alone: 0, inHand: 6_000, now })).toEqual([]);
});

test('whoever wants little gets it before anybody gets a batch, and a project leaves as much free as it takes', () => {
  const waiting = [endpoint('big', { waiting: 100, isFlowing: true }), endpoint('small', { waiting: 2, servedAt: 9 })];
  expect(taken(plan(waiting, { alone: 0, inHand: 5_990, now }))).toEqual({ big: 5, small: 2 });
});

test('a project with many endpoints that hang takes half of the room at most, and delays no other by more than a turn', () => {
  const ofOne = { projectId: 'noisy', waiting: 600, projectInHand: 2_000 };
  const noisy = many(200, ofOne);
  const quiet = endpoint('quiet', { waiting: 3, servedAt: 9 });
  const room = { alone: 0, inHand: 2_000, now };
  const takes = taken(plan([...noisy, quiet], room));
  expect(takes.quiet).toBe(3);
  const { quiet: _, ...rest } = takes;
  expect(Object.values(rest).reduce((sum, take) => sum + take, 0)).toBe(1_000);
  const full = taken(plan([...many(200, { ...ofOne, projectInHand: 3_000 }), quiet], { ...room, inHand: 3_000 }));
  expect(full).toEqual({ quiet: 3 });
});

test('an endpoint that struggles gets little, alone, and then a probe each half minute', () => {
  const struggling = (more: Partial<EndpointQueue>) =>
    plan([endpoint('s', { waiting: 100, failuresInRow: 10, ...more })], { alone: 0, inHand: 0, now });
  expect(struggling({ retrying: 8 })).toEqual([{ endpointId: 's', take: 2, batch: null }]);
  expect(struggling({ attempting: 2, retrying: 8 })).toEqual([]);
  expect(struggling({ retrying: 10, servedAt: now - PROBE_EVERY_MS + 1 })).toEqual([]);
  expect(taken(struggling({ retrying: 10, servedAt: now - PROBE_EVERY_MS }))).toEqual({ s: 1 });
});

test('endpoints that struggle or hang hold back nobody', () => {
  const dead = many(100, { waiting: 100, failuresInRow: 500, retrying: 20, servedAt: now });
  const hanging = many(100, { waiting: 100, attempting: 10 });
  const well = endpoint('well', { waiting: 100, isFlowing: true });
  expect(taken(plan([...dead, ...hanging, well], { alone: 0, inHand: 1_000, now }))).toEqual({ well: 100 });
});
