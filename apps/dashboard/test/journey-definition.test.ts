import { describe, expect, test } from 'vitest';
import {
  type Definition,
  exitsOf,
  insertStep,
  outlineOf,
  readDefinition,
  removeStep,
  type Step,
} from '../src/pages/journeys/definition.ts';

const wait = (id: string, next: string | null = null): Step => ({ id, type: 'wait', for: { days: 1 }, next });
const of = (...steps: Step[]): Definition => ({ entry: { type: 'manual' }, steps });
const edges = ({ steps }: Definition) =>
  Object.fromEntries(steps.map((step) => [step.id, exitsOf(step).map(({ to }) => to)]));

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
  const { definition, id } = insertStep(of(split, wait('a'), wait('b', 'a')), { stepId: 'b', key: 'next' }, split);
  expect(edges(definition)).toEqual({ split: ['a', 'b'], a: [null], b: [id], split_2: ['a', null] });
  expect(definition.steps.at(-1)).toMatchObject({ id, branches: [{ percent: 30 }, { percent: 70 }] });
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

describe('the outline', () => {
  const shape = ({ steps, end }: ReturnType<typeof outlineOf>['line']): unknown[] => [
    ...steps.map(({ step, branches }) =>
      branches.length === 0 ? step.id : [step.id, ...branches.map((each) => shape(each.line))],
    ),
    end.kind === 'jump' ? `→ ${end.to}` : end.kind,
  ];

  test('it shows each step once: branches below their step, and a loop or a join as a jump', () => {
    const condition: Step = { id: 'if', type: 'condition', yes: 'b', no: 'c' };
    const { line, apart } = outlineOf(of(wait('a', 'if'), condition, wait('b', 'c'), wait('c', 'a'), wait('d')));
    expect(shape(line)).toEqual(['a', ['if', ['b', 'c', '→ a'], ['→ c']], 'closed']);
    expect(apart.map(({ id }) => id)).toEqual(['d']);
  });

  test('a step that leads to one that does not exist ends there', () => {
    expect(shape(outlineOf(of(wait('a', 'gone'))).line)).toEqual(['a', 'end']);
  });
});

test('a draft that the API was given may be any object', () => {
  expect(readDefinition({ steps: [{ id: 'a', type: 'dance' }, wait('b')], goal: { event: 'x' } })).toEqual({
    entry: { type: 'manual' },
    goal: { event: 'x' },
    steps: [wait('b')],
  });
  expect(readDefinition({ steps: 'none', entry: 'none' })).toEqual(of());
});
