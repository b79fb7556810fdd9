import { expect, test } from 'vitest';
import type { Observation } from '../src/inspect/judge.ts';
import { maySend, nextState, nextWait, type PartState, SCHEDULE, wholeStatus } from '../src/status.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Looks at a part at these times, in milliseconds after it was added, and returns how it stands after each. */
function watch(looks: [at: number, verdict: Observation['verdict']][]): string[] {
  let state: PartState = { status: 'pending' };
  return looks.map(([now, verdict]) => {
    state = nextState(state, verdict, { now, addedAt: 0, schedule: SCHEDULE });
    return state.status;
  });
}

const all = (state: PartState) => ({ dkim: state, mailFrom: state, dmarc: state });
const wait = (state: PartState, now: number) => nextWait(all(state), { now, addedAt: 0, schedule: SCHEDULE });

test('a part is pending until it is seen, and failed when it is not seen for 72 hours', () => {
  expect(
    watch([
      [0, 'wrong'],
      [HOUR, 'unanswered'],
      [71 * HOUR, 'wrong'],
      [72 * HOUR, 'wrong'],
    ]),
  ).toEqual(['pending', 'pending', 'pending', 'failed']);
  expect(
    watch([
      [0, 'wrong'],
      [HOUR, 'right'],
    ]),
  ).toEqual(['pending', 'verified']);
});

test('a domain that loses a record becomes failing and, after a grace of 3 days, failed', () => {
  const looks = [0, DAY, 2 * DAY, 3 * DAY, 4 * DAY].map((at): [number, Observation['verdict']] => [at, 'wrong']);
  expect(watch([[0, 'right'], ...looks.slice(1)])).toEqual(['verified', 'failing', 'failing', 'failing', 'failed']);
});

test('a record that comes back in time ends the grace; the next loss has three days again', () => {
  expect(
    watch([
      [0, 'right'],
      [DAY, 'wrong'],
      [3 * DAY, 'right'],
      [5 * DAY, 'wrong'],
      [7 * DAY, 'wrong'],
    ]),
  ).toEqual(['verified', 'failing', 'verified', 'failing', 'failing']);
});

test('a failed part is verified as soon as it is seen', () => {
  expect(
    watch([
      [73 * HOUR, 'wrong'],
      [30 * DAY, 'right'],
    ]),
  ).toEqual(['failed', 'verified']);
});

test('name servers that give no answer are no loss until they have been silent for a day', () => {
  expect(
    watch([
      [0, 'right'],
      [DAY, 'unanswered'],
      [DAY + 23 * HOUR, 'unanswered'],
      [2 * DAY, 'unanswered'],
    ]),
  ).toEqual(['verified', 'verified', 'verified', 'failing']);
  expect(
    watch([
      [0, 'right'],
      [DAY, 'unanswered'],
      [DAY + HOUR, 'right'],
      [2 * DAY, 'unanswered'],
    ]).at(-1),
  ).toBe('verified');
});

test('the whole domain is as its worst part', () => {
  const parts = { ...all({ status: 'verified' }), mailFrom: { status: 'pending' as const } };
  expect(wholeStatus(parts)).toBe('pending');
  expect(wholeStatus({ ...parts, dkim: { status: 'failing' } })).toBe('failing');
  expect(wholeStatus({ ...parts, dmarc: { status: 'failed' }, dkim: { status: 'failing' } })).toBe('failed');
  expect(wholeStatus(all({ status: 'verified' }))).toBe('verified');
});

test('mail may go out while a domain is verified or in its grace, and never while it is blocked', () => {
  expect((['pending', 'verified', 'failing', 'failed'] as const).map((status) => maySend(status, null))).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect(maySend('verified', new Date())).toBe(false);
});

test('checks come soon after adding, then with growing waits for 72 hours, then daily for ever', () => {
  const waits: number[] = [];
  let now = 0;
  for (let state: PartState = { status: 'pending' }; state.status === 'pending';) {
    const ms = wait(state, now);
    waits.push(ms);
    now += ms;
    state = nextState(state, 'wrong', { now, addedAt: 0, schedule: SCHEDULE });
  }
  expect(waits[0]).toBe(15_000);
  expect(waits.slice(0, -1)).toEqual(waits.slice(0, -1).toSorted((a, b) => a - b));
  expect(now).toBe(72 * HOUR);
  expect(waits.length).toBeLessThan(40);
  expect(wait({ status: 'failed' }, now)).toBe(DAY);
  expect(wait({ status: 'verified' }, 300 * DAY)).toBe(DAY);
});

test('a failing domain is looked at hourly, and at the end of its grace', () => {
  expect(wait({ status: 'failing', failingSince: 10 * DAY }, 11 * DAY)).toBe(HOUR);
  expect(wait({ status: 'failing', failingSince: 10 * DAY }, 13 * DAY - 60_000)).toBe(60_000);
  expect(wait({ status: 'verified', silentSince: 10 * DAY }, 11 * DAY)).toBe(HOUR);
});
