import { expect, test } from 'vitest';
import { plan, PROBE_EVERY_MS, type Take, type Waiting } from './plan.ts';

const endpoint = (endpointId: string, more: Partial<Waiting> = {}): Waiting => ({
  endpointId,
  waiting: 1,
  failuresInRow: 0,
  isFlowing: false,
  attempting: 0,
  retrying: 0,
  idleMs: null,
  ...more,
});

const taken = (takes: Take[]) => Object.fromEntries(takes.map(({ endpointId, take }) => [endpointId, take]));
const batches = (takes: Take[]) => Map.groupBy(takes, ({ batch }) => batch);

test('in normal traffic each delivery goes alone', () => {
  const takes = plan([endpoint('a', { waiting: 3 }), endpoint('b')], { alone: 20, inHand: 0 });
  expect(taken(takes)).toEqual({ a: 3, b: 1 });
  expect(takes.every(({ batch }) => batch === null)).toBe(true);
});

test('when many wait for an endpoint, up to 100 go in one batch', () => {
  const takes = plan([endpoint('a', { waiting: 100 })], { alone: 20, inHand: 0 });
  expect(takes).toEqual([{ endpointId: 'a', take: 100, batch: expect.stringMatching(/^batch_/) }]);
});

test('few deliveries each for many endpoints share batches of at most 100', () => {
  const many = Array.from({ length: 50 }, (_, n) => endpoint(`e${n}`, { waiting: 5 }));
  const takes = plan(many, { alone: 20, inHand: 0 });
  const sizes = [...batches(takes).values()].map((members) => members.reduce((sum, { take }) => sum + take, 0));
  expect(sizes).toEqual([100, 100, 50]);
});

test('when there is little room it is shared evenly, and whoever wants less leaves the rest to others', () => {
  const waiting = [
    endpoint('big', { waiting: 100 }),
    endpoint('small', { waiting: 2 }),
    endpoint('other', { waiting: 100 }),
  ];
  expect(taken(plan(waiting, { alone: 0, inHand: 10_000 - 42 }))).toEqual({ big: 20, small: 2, other: 20 });
  expect(plan(waiting, { alone: 0, inHand: 10_000 })).toEqual([]);
});

test('an endpoint has only so much in hand, however much waits: a batch, or three once it is seen to acknowledge', () => {
  const take = (more: Partial<Waiting>) =>
    taken(plan([endpoint('a', { waiting: 100, ...more })], { alone: 0, inHand: 0 }));
  expect(take({ attempting: 60 })).toEqual({ a: 40 });
  expect(take({ attempting: 100 })).toEqual({});
  expect(take({ attempting: 250, isFlowing: true })).toEqual({ a: 50 });
  expect(take({ attempting: 300, isFlowing: true })).toEqual({});
  expect(take({ retrying: 1000 })).toEqual({});
});

test('an endpoint that struggles gets little, alone, and then a probe each half minute', () => {
  const struggling = (more: Partial<Waiting>) =>
    plan([endpoint('s', { waiting: 100, failuresInRow: 10, ...more })], { alone: 0, inHand: 0 });
  expect(struggling({})).toEqual([{ endpointId: 's', take: 2, batch: null }]);
  expect(struggling({ attempting: 2, idleMs: 10 })).toEqual([]);
  expect(struggling({ retrying: 20, idleMs: PROBE_EVERY_MS - 1 })).toEqual([]);
  expect(taken(struggling({ retrying: 20, idleMs: PROBE_EVERY_MS }))).toEqual({ s: 1 });
});

test('endpoints that struggle hold back nobody', () => {
  const dead = Array.from({ length: 100 }, (_, n) =>
    endpoint(`dead${n}`, { waiting: 100, failuresInRow: 500, retrying: 20, idleMs: 0 }),
  );
  expect(taken(plan([...dead, endpoint('well', { waiting: 100 })], { alone: 0, inHand: 200 }))).toEqual({ well: 100 });
});
