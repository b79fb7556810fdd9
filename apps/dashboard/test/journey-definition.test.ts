import { describe, expect, test } from 'vitest';
import {
  connect,
  exitsOf,
  insertSteps,
  moveStep,
  newStep,
  pickSteps,
  type Place,
  readDefinition,
  removeStep,
  renameProblem,
  renameStep,
  stepsFrom,
} from '../src/pages/journeys/definition.ts';
import type { Definition, Step, StepType } from '../src/pages/journeys/definition-types.ts';
import { graphOf } from '../src/pages/journeys/graph.ts';

const wait = (id: string, next: string | null = null): Step => ({ id, type: 'wait', for: { days: 1 }, next });
const of = (...steps: Step[]): Definition => ({ entry: { type: 'manual' }, steps });
const edges = ({ steps }: Definition) =>
  Object.fromEntries(steps.map((step) => [step.id, exitsOf(step).map(({ to }) => to)]));

const insertStep = (definition: Definition, place: Place, type: StepType) =>
  insertSteps(definition, place, [newStep(type)]);

describe('adding a step', () => {
  test('what followed at the place follows the new step', () => {
    const { definition, id } = insertStep(of(wait('a', 'b'), wait('b')), { stepId: 'a', key: 'next' }, 'send');
    expect([id, edges(definition)]).toEqual(['send', { a: ['send'], b: [null], send: ['b'] }]);
  });

  test('at the start it becomes the first, and a step that branches goes on at its first branch', () => {
    const { definition } = insertStep(of(wait('a')), 'start', 'split');
    expect(definition.steps.map(({ id }) => id)).toEqual(['split', 'a']);
    expect(edges(definition)).toEqual({ split: ['a', null], a: [null] });
  });

  test('on a branch of a split only that branch leads to it; ids that are taken get a number', () => {
    const split: Step = { id: 'wait', type: 'split', branches: [{ percent: 50 }, { percent: 50, next: 'b' }] };
    const { definition, id } = insertStep(of(split, wait('b')), { stepId: 'wait', key: 'branches.1' }, 'wait');
    expect([id, edges(definition)]).toEqual(['wait_2', { wait: [null, 'wait_2'], b: [null], wait_2: ['b'] }]);
  });
});

test('a copy of a step keeps its content, and leads to what followed at the place instead of where the original leads', () => {
  const split: Step = {
    id: 'split',
    type: 'split',
    branches: [
      { percent: 30, next: 'a' },
      { percent: 70, next: 'b' },
    ],
  };
  const { definition, id } = insertSteps(of(split, wait('a'), wait('b', 'a')), { stepId: 'b', key: 'next' }, [split]);
  expect(edges(definition)).toEqual({ split: ['a', 'b'], a: [null], b: [id], split_2: ['a', null] });
  expect(definition.steps.at(-1)).toMatchObject({ id, branches: [{ percent: 30 }, { percent: 70 }] });
});

test('steps that are added together lead to each other as before, under new ids, and the first way that is open goes on', () => {
  const opened: Step = {
    id: 'if',
    type: 'condition',
    message: { stepId: 'mail', outcome: 'opened' },
    yes: 'a',
    no: 'elsewhere',
  };
  const added: Step[] = [{ id: 'mail', type: 'send', next: 'if' }, opened, wait('a', 'mail')];
  const { definition, id } = insertSteps(
    of(wait('a', 'mail'), { id: 'mail', type: 'send' }),
    { stepId: 'a', key: 'next' },
    added,
  );
  expect(id).toBe('mail_2');
  expect(edges(definition)).toEqual({
    a: ['mail_2'],
    mail: [null],
    mail_2: ['if'],
    if: ['a_2', 'mail'],
    a_2: ['mail_2'],
  });
  expect(definition.steps.find((step) => step.id === 'if')?.message?.stepId).toBe('mail_2');
  expect(stepsFrom(definition, 'mail_2').map((step) => step.id)).toEqual(['mail_2', 'if', 'a_2', 'mail']);
});

test('an id that is taken and as long as ids may be stays within that length', () => {
  const long = 'x'.repeat(50);
  const { id } = insertSteps(of(wait(long)), { stepId: long, key: 'next' }, [wait(long)]);
  expect(id).toBe(`${'x'.repeat(48)}_2`);
});

describe('moving a step', () => {
  const before = of(wait('a', 'b'), wait('b', 'c'), wait('c'));

  test('what led to it leads to what followed, and what follows at the place follows it', () => {
    expect(edges(moveStep(before, 'b', { stepId: 'c', key: 'next' }))).toEqual({ a: ['c'], c: ['b'], b: [null] });
    const first = moveStep(before, 'c', 'start');
    expect([first.steps[0]?.id, edges(first)]).toEqual(['c', { c: ['a'], a: ['b'], b: [null] }]);
  });

  test('to where it is nothing changes', () => {
    expect(moveStep(before, 'b', { stepId: 'a', key: 'next' })).toBe(before);
    expect(moveStep(before, 'b', { stepId: 'b', key: 'next' })).toBe(before);
    expect(moveStep(before, 'a', 'start')).toBe(before);
  });
});

test('a way is led elsewhere; at the start only to a step', () => {
  const before = of(wait('a', 'b'), wait('b'));
  expect(edges(connect(before, { stepId: 'b', key: 'next' }, 'a'))).toEqual({ a: ['b'], b: ['a'] });
  expect(connect(before, 'start', 'b').steps.map(({ id }) => id)).toEqual(['b', 'a']);
  expect(connect(before, 'start', null)).toBe(before);
});

describe('removing a step', () => {
  test('what led to it leads to what follows', () => {
    const condition: Step = { id: 'if', type: 'condition', yes: 'b', no: 'c' };
    const definition = removeStep(of(wait('a', 'if'), condition, wait('b'), wait('c')), 'if');
    expect(edges(definition)).toEqual({ a: ['b'], b: [null], c: [null] });
  });

  test('after the first one, contacts enter at what followed it', () => {
    const definition = removeStep(of(wait('a', 'c'), wait('b'), wait('c', 'b')), 'a');
    expect(definition.steps.map(({ id }) => id)).toEqual(['c', 'b']);
  });

  test('an exit that was added between others leaves them as they were', () => {
    const before = of(wait('a', 'b'), wait('b', 'c'), wait('c'));
    const { definition, id } = insertStep(before, { stepId: 'a', key: 'next' }, 'exit');
    expect(edges(definition)).toEqual({ a: ['exit'], b: ['c'], c: [null], exit: [] });
    expect(removeStep(definition, id)).toEqual(before);
    const exit: Step = { id: 'exit', type: 'exit' };
    expect(edges(removeStep(of(wait('a', 'exit'), exit), 'exit'))).toEqual({ a: [null] });
  });

  test('a step that leads to itself is removed with its loop', () => {
    expect(edges(removeStep(of(wait('a', 'b'), wait('b', 'b')), 'b'))).toEqual({ a: [null] });
  });
});

test('a draft that the API was given may be any object', () => {
  expect(readDefinition({ steps: [7, wait('b')], goal: { event: 'x' } })).toEqual({
    entry: { type: 'manual' },
    goal: { event: 'x' },
    steps: [wait('b')],
  });
  expect(readDefinition({ steps: 'none', entry: 'none' })).toEqual(of());
  const rules = {
    reentry: { after_days: 9 },
    goal: { event: 'x', where: 7 },
    frequencyCap: {},
    quietHours: 7,
    timeZone: 7,
  };
  const entry = { type: 'event', event: 'x', where: [7], offsetDays: '1', filter: 7 };
  expect(readDefinition({ ...rules, entry, steps: [] })).toEqual({ entry: { type: 'event', event: 'x' }, steps: [] });
  const valid = {
    reentry: { afterDays: 9 },
    goal: { event: 'x', where: [{ property: 'plan', op: 'is', value: 'pro' }] },
    frequencyCap: { messages: 1, days: 2 },
    quietHours: { from: '22:00', to: '07:00' },
    timeZone: 'Europe/Berlin',
    entry: { type: 'date', field: 'customFields.born', offsetDays: -1, yearly: true, time: '09:00' },
    steps: [],
  };
  expect(readDefinition(valid)).toEqual(valid);
  const split = { id: 'c', type: 'split', branches: 'none', where: [7], onFailure: null };
  expect(readDefinition({ steps: [split] }).steps).toEqual([{ id: 'c', type: 'split', onFailure: null }]);
});

test('steps of unknown types are kept with all their members, and lead where these say', () => {
  const dance = { id: 'a', type: 'dance', time: { beats: 3 }, yes: 'b', no: 7, branches: [null, { next: 'c' }] };
  const definition = readDefinition({
    steps: [dance, { type: 'b' }, { id: 'c' }, { id: 'c', type: 'sing', next: 'a' }],
  });
  expect(definition.steps).toEqual([
    dance,
    { id: 'step', type: 'b' },
    { id: 'c' },
    { id: 'step_2', type: 'sing', next: 'a' },
  ]);
  expect(edges(definition)).toEqual({ a: ['b', 'c'], step: [null], c: [null], step_2: ['a'] });
  expect(graphOf(definition).flatMap(({ step }) => (step ? [step.id] : []))).toEqual(['a', 'c', 'step', 'step_2']);
  expect(renameStep(definition, 'a', 'z').steps[0]).toEqual({ ...dance, id: 'z' });
});

describe('changing the id of a step', () => {
  const before = of(
    { id: 'mail', type: 'send', next: 'call' },
    { id: 'call', type: 'webhook', url: 'https://example.com', next: 'if', onFailure: 'mail' },
    {
      id: 'if',
      type: 'condition',
      message: { stepId: 'mail', outcome: 'opened' },
      where: [
        { property: 'steps.call.body.code', op: 'isSet' },
        { property: 'steps.caller.status', op: 'isSet' },
      ],
      yes: 'mail',
      no: 'half',
    },
    {
      id: 'half',
      type: 'split',
      branches: [
        { percent: 50, next: 'mail' },
        { percent: 50, next: 'paid' },
      ],
    },
    {
      id: 'paid',
      type: 'wait_for_event',
      event: 'paid',
      where: [{ property: 'steps.call.x', op: 'isSet' }],
      timeout: { days: 1 },
      onTimeout: 'call',
    },
  );

  test('what leads to it, and conditions on its email and its response, follow; nothing else changes', () => {
    const renamed = renameStep(renameStep(before, 'mail', 'welcome'), 'call', 'coupon');
    expect(renamed.steps.map(({ id }) => id)).toEqual(['welcome', 'coupon', 'if', 'half', 'paid']);
    expect(edges(renamed)).toEqual({
      welcome: ['coupon'],
      coupon: ['if', 'welcome'],
      if: ['welcome', 'half'],
      half: ['welcome', 'paid'],
      paid: [null, 'coupon'],
    });
    expect(renamed.steps[2]).toMatchObject({
      message: { stepId: 'welcome', outcome: 'opened' },
      where: [{ property: 'steps.coupon.body.code' }, { property: 'steps.caller.status' }],
    });
    expect(renamed.steps[4]?.where).toEqual([{ property: 'steps.call.x', op: 'isSet' }]);
    expect(renameStep(renameStep(renamed, 'welcome', 'mail'), 'coupon', 'call')).toEqual(before);
  });

  test('one that is taken or malformed is refused', () => {
    expect(renameProblem(before, 'mail', 'call')).toBe('Another step has this ID.');
    for (const id of ['', 'a b', 'ä', 'x'.repeat(51)]) expect(renameProblem(before, 'mail', id)).toContain('1 to 50');
    expect([renameProblem(before, 'mail', 'mail'), renameProblem(before, 'mail', 'Mail-2')]).toEqual([
      undefined,
      undefined,
    ]);
  });
});

test('steps that are picked lead to each other past those that are not, and are pasted and removed together', () => {
  const condition: Step = { id: 'if', type: 'condition', yes: 'c', no: 'a' };
  const definition = of(wait('a', 'b'), wait('b', 'if'), condition, wait('c', 'd'), wait('d', 'd'));
  const picked = pickSteps(definition, ['a', 'if', 'd']);
  expect(edges(of(...picked))).toEqual({ a: ['if'], if: ['d', 'a'], d: ['d'] });
  const pasted = insertSteps(definition, { stepId: 'b', key: 'next' }, picked);
  expect(edges(pasted.definition)).toMatchObject({ b: ['a_2'], a_2: ['if_2'], if_2: ['d_2', 'a_2'] });
  expect(edges(of(...pickSteps(definition, ['c', 'b'])))).toEqual({ c: [null], b: ['c'] });
  expect(edges(['b', 'if'].reduce(removeStep, definition))).toEqual({ a: ['c'], c: ['d'], d: ['d'] });
  expect(pickSteps(of(wait('x', 'y'), wait('y', 'x'), wait('z', 'x')), ['z'])).toEqual([wait('z')]);
});
