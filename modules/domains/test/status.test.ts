import { expect, test } from 'vitest';
import type { Observation } from '../src/inspect/assess.ts';
import { maySend, nextState, nextWait, type PartState, SCHEDULE, worstStatus } from '../src/status.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Checks a part at these times, in milliseconds after it was added, and returns its status after each. */
function watch(looks: [at: number, verdict: Observation['verdict']][]): string[] {
  let state: PartState = { status: 'pending' };
  return looks.map(([now, verdict]) => {
    state = nextState(state, verdict, { now, addedAt: 0, schedule: SCHEDULE });
    return state.status;
  });
}

const all = (state: PartState) => ({ dkim: state, mailFrom: state, dmarc: state });
const wait = (state: PartState, now: number) => nextWait(all(state), { now, addedAt: 0, schedule: SCHEDULE });

test('a part is pending until it is found, and failed if it is not found for 72 hours', () => {
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

test('a domain that loses a record becomes failing and, after 3 days of grace, failed', () => {
  const looks = [0, DAY, 2 * DAY, 3 * DAY, 4 * DAY].map((at): [number, Observation['verdict']] => [at, 'wrong']);
  expect(watch([[0, 'right'], ...looks.slice(1)])).toEqual(['verified', 'failing', 'failing', 'failing', 'failed']);
});

test('a record that returns in time ends the grace period, and the next loss starts a new one', () => {
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

test('a failed part is verified as soon as it is found', () => {
  expect(
    watch([
      [73 * HOUR, 'wrong'],
      [30 * DAY, 'right'],
    ]),
  ).toEqual(['failed', 'verified']);
});

test('unresponsive name servers are no loss until a day has passed', () => {
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

test('a domain has the status of its worst part', () => {
  const parts = { ...all({ status: 'verified' }), mailFrom: { status: 'pending' as const } };
  expect(worstStatus(parts)).toBe('pending');
  expect(worstStatus({ ...parts, dkim: { status: 'failing' } })).toBe('failing');
  expect(worstStatus({ ...parts, dmarc: { status: 'failed' }, dkim: { status: 'failing' } })).toBe('failed');
  expect(worstStatus(all({ status: 'verified' }))).toBe('verified');
});

test('mail can be sent while a domain is verified or in grace, and never while it is blocked', () => {
  expect((['pending', 'verified', 'failing', 'failed'] as const).map((status) => maySend(status, null))).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect(maySend('verified', new Date())).toBe(false);
});

test('checks start soon after adding, back off for 72 hours, then run daily', () => {
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

test('a failing domain is checked hourly, and at the end of its grace period', () => {
  expect(wait({ status: 'failing', failingSince: 10 * DAY }, 11 * DAY)).toBe(HOUR);
  expect(wait({ status: 'failing', failingSince: 10 * DAY }, 13 * DAY - 60_000)).toBe(60_000);
  expect(wait({ status: 'verified', silentSince: 10 * DAY }, 11 * DAY)).toBe(HOUR);
});
