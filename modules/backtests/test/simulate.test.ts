import type { Definition } from '@postroom/journey-definition';
import { expect, test } from 'vitest';
import { type ContactFacts, type Fact, simulate, type Simulation, type World } from '../src/simulate.ts';
import { differenceOf } from '../src/totals.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** A Monday at noon in UTC. */
const START = Date.parse('2026-11-02T12:00:00Z');

const world: World = {
  from: START,
  until: START + 30 * DAY,
  assumptions: { delivered: 100, opened: 0, clicked: 0, bounced: 0, complained: 0, unsubscribed: 0 },
  projectCap: undefined,
  chance: () => 50,
};
const event = (key: string, at: number, properties = {}): Fact => ({ kind: 'event', key, at: START + at, properties });
const send = (id: string, next?: string) => ({ id, type: 'send', templateId: 't', from: 'a@b.example', next });
const wait = (id: string, days: number, next?: string) => ({ id, type: 'wait', for: { days }, next });

function run(
  definition: object,
  facts: Fact[],
  { known = {}, ...more }: Partial<World> & { known?: Partial<ContactFacts> } = {},
): Simulation {
  const contact = { id: 'ctc_1', customFields: {}, suppressions: [], mail: [], facts, ...known };
  const whole = { entry: { type: 'event', event: 'in' }, ...definition } as unknown as Definition;
  const { done, value } = simulate(whole, contact, { ...world, ...more }).next();
  expect(done).toBe(true);
  return value as Simulation;
}

/** What the runs did, with the hours since the beginning. */
const told = ({ runs }: Simulation) =>
  runs.flatMap(({ steps }) =>
    steps.map(({ stepId, outcome, leftAt }) => `${stepId} ${outcome} ${(leftAt - START) / HOUR}`),
  );

test('quiet hours postpone a message, in the time zone of the contact, and not a transactional one', () => {
  const definition = {
    quietHours: { from: '12:00', to: '18:00' },
    timeZoneField: 'zone',
    steps: [{ ...send('receipt', 'news'), transactional: true }, send('news')],
  };
  expect(told(run(definition, [event('in', 0)]))).toEqual(['receipt sent 0', 'news sent 6']);
  const known = { customFields: { zone: 'America/New_York' } };
  expect(told(run(definition, [event('in', 0)], { known }))).toEqual(['receipt sent 0', 'news sent 0']);
});

test('a frequency cap counts simulated messages and other mail of the days before', () => {
  const definition = {
    frequencyCap: { messages: 2, days: 7 },
    steps: [send('one', 'day'), wait('day', 1, 'two'), send('two', 'week'), wait('week', 7, 'three'), send('three')],
  };
  const known = { mail: [START - DAY] };
  expect(told(run(definition, [event('in', 0)], { known })).filter((each) => !each.includes('waited'))).toEqual([
    'one sent 0',
    'two capped 24',
    'three sent 192',
  ]);
});

test('a suppression counts from when it was added', () => {
  const definition = { steps: [send('one', 'day'), wait('day', 1, 'two'), send('two')] };
  const known = { suppressions: [{ reason: 'unsubscribed', at: START + HOUR }] };
  expect(told(run(definition, [event('in', 0)], { known }))).toEqual([
    'one sent 0',
    'day waited 24',
    'two suppressed 24',
  ]);
});

test('contacts enter again only as the journey allows, and are still in it at the end of the period', () => {
  const steps = [wait('days', 2)];
  const facts = [event('in', 0), event('in', DAY), event('in', 3 * DAY), event('in', 29 * DAY)];
  expect(run({ steps }, facts)).toMatchObject({ runs: [{ endReason: 'completed' }], notAgain: 2 });
  const always = run({ steps, reentry: 'always' }, facts);
  expect(always.runs.map(({ endReason }) => endReason)).toEqual(['completed', 'completed', null]);
  expect(always.runs[2]).toMatchObject({ stepId: 'days', dueAt: START + 31 * DAY });
  expect(run({ steps, reentry: { afterDays: 10 } }, facts).runs).toHaveLength(2);
});

test('an event since the entry ends a wait at once, and the goal ends a run anywhere', () => {
  const wait_for = { id: 'order', type: 'wait_for_event', event: 'ordered', timeout: { days: 1 }, next: 'thanks' };
  const definition = {
    goal: { event: 'paid' },
    steps: [wait('days', 2, 'order'), wait_for, send('thanks', 'end'), wait('end', 9)],
  };
  const facts = [event('in', 0), event('ordered', DAY), event('paid', 3 * DAY)];
  expect(told(run(definition, facts))).toEqual(['days waited 48', 'order event 48', 'thanks sent 48', 'end goal 72']);
  expect(told(run(definition, facts.slice(0, 1)))).toEqual(['days waited 48', 'order timeout 72']);
});

test('outcomes of messages are those assumed', () => {
  const opened = {
    id: 'opened',
    type: 'condition',
    message: { stepId: 'one', outcome: 'opened' },
    yes: null,
    no: null,
  };
  const definition = { steps: [send('one', 'opened'), opened] };
  const assume = (percent: number) => ({ assumptions: { ...world.assumptions, opened: percent } });
  expect(told(run(definition, [event('in', 0)], assume(40)))).toContain('opened no 0');
  expect(told(run(definition, [event('in', 0)], assume(60)))).toContain('opened yes 0');
});

test('messages differ by who gets them, by content or by time', () => {
  const [a, b, later] = [
    { content: 'a', at: 1 },
    { content: 'b', at: 1 },
    { content: 'a', at: 2 },
  ];
  expect(differenceOf([a], [a])).toBe('none');
  expect(differenceOf([a], [])).toBe('candidate_only');
  expect(differenceOf([], [a])).toBe('baseline_only');
  expect(differenceOf([a], [later])).toBe('times');
  expect(differenceOf([a], [b])).toBe('messages');
});
