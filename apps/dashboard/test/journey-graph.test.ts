import { describe, expect, test } from 'vitest';
import { stepsFromText, stepsToText } from '../src/pages/journeys/clipboard.ts';
import { differencesOf } from '../src/pages/journeys/compare.ts';
import { countsOf } from '../src/pages/journeys/counts.ts';
import type { Definition, Step } from '../src/pages/journeys/definition-types.ts';
import { ENTRY, graphOf, neighborOf, type PlacedNode, placeNodes } from '../src/pages/journeys/graph.ts';

const wait = (id: string, next: string | null = null): Step => ({ id, type: 'wait', for: { days: 1 }, next });
const condition = (id: string, yes: string | null, no: string | null): Step => ({ id, type: 'condition', yes, no });
const of = (...steps: Step[]): Definition => ({ entry: { type: 'manual' }, steps });
const placed = (definition: Definition) =>
  placeNodes(graphOf(definition), {
    node: () => ({ width: 200, height: 60 }),
    label: () => ({ width: 60, height: 20 }),
    gap: 30,
  });

/** A condition whose ways meet again, a loop, and a step that nothing leads to. */
const JOURNEY = of(
  wait('a', 'if'),
  condition('if', 'yes', 'no'),
  wait('yes', 'join'),
  wait('no', 'join'),
  condition('join', 'a', null),
  wait('apart'),
);

describe('the graph', () => {
  test('it has each step once, in reading order, and an end for each way that ends or leads to no step', () => {
    const nodes = graphOf(of(...JOURNEY.steps, wait('lost', 'gone')));
    expect(nodes.map(({ id }) => id)).toEqual([
      ENTRY,
      'a',
      'if',
      'yes',
      'join',
      ':end join>no',
      'no',
      'apart',
      ':end apart>next',
      'lost',
      ':end lost>next',
    ]);
    expect(graphOf(of()).map(({ id }) => id)).toEqual([ENTRY, ':end :entry>first']);
  });

  test('steps are placed from top to bottom without overlaps, and edges run between their borders', () => {
    const nodes = placed(JOURNEY);
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const overlaps = (one: PlacedNode, other: PlacedNode) =>
      one.x < other.x + other.width &&
      other.x < one.x + one.width &&
      one.y < other.y + other.height &&
      other.y < one.y + one.height;
    for (const [index, one] of nodes.entries())
      for (const other of nodes.slice(index + 1)) expect(overlaps(one, other), `${one.id} and ${other.id}`).toBe(false);
    const top = (id: string) => byId.get(id)?.y ?? 0;
    expect([top(ENTRY), top('a') > 0, top('if') > top('a'), top('yes') === top('no'), top('join') > top('no')]).toEqual(
      [0, true, true, true, true],
    );
    const [yes] = byId.get('if')?.exits ?? [];
    const target = byId.get('yes');
    expect(yes?.path.endsWith(`${(target?.x ?? 0) + 100},${target?.y}`)).toBe(true);
  });

  test('ways stay in their order from left to right', () => {
    const split = (id: string, ...to: string[]): Step => ({
      id,
      type: 'split',
      branches: to.map((next) => ({ percent: 100 / to.length, next })),
    });
    const steps = [split('s', 'a', 'b', 'c'), wait('c', 'end'), condition('b', 'end', null), wait('a'), wait('end')];
    const nodes = placed(of(...steps));
    const across = (id: string) => nodes.find((node) => node.id === id)?.x ?? 0;
    expect(['c', 'b', 'a'].toSorted((one, other) => across(one) - across(other))).toEqual(['a', 'b', 'c']);
  });

  test('the most steps that a journey may have are placed', () => {
    const steps = Array.from({ length: 200 }, (_, at) =>
      at % 3 === 0 ? condition(`s${at}`, `s${at + 1}`, `s${at + 2}`) : wait(`s${at}`, `s${at + 1}`),
    );
    expect(placed(of(...steps)).length).toBeGreaterThan(200);
  });

  test('arrow keys follow the edges up and down, and sideways to the nearest step', () => {
    const nodes = placed(JOURNEY);
    const to = (id: string, direction: Parameters<typeof neighborOf>[2]) => neighborOf(nodes, id, direction);
    expect([to(ENTRY, 'down'), to('a', 'down'), to('if', 'down')]).toEqual(['a', 'if', 'yes']);
    expect([to('yes', 'up'), to('if', 'up'), to('a', 'up')]).toEqual(['if', 'a', ENTRY]);
    expect([to('yes', 'right'), to('no', 'left')]).toEqual(['no', 'yes']);
    expect([to('join', 'first'), to('a', 'last'), to('apart', 'down')]).toEqual([ENTRY, 'apart', undefined]);
  });
});

describe('the clipboard', () => {
  test('steps are pasted as they were copied, also from a downloaded journey', () => {
    const steps = [wait('a', 'b'), condition('b', null, 'a')];
    expect(stepsFromText(stepsToText(steps))).toEqual(steps);
    expect(stepsFromText(JSON.stringify({ ...of(...steps), goal: { event: 'paid' } }))).toEqual(steps);
  });

  test.each([
    ['a text', 'The clipboard has no steps of a journey.'],
    ['{"steps":[]}', 'The clipboard has no steps of a journey.'],
    ['null', 'The clipboard has no steps of a journey.'],
    ['{"steps":[{"id":"a b","type":"wait"}]}', 'steps.0.id must be 1 to 50 letters, digits, - or _.'],
    ['{"steps":[{"id":"a","type":"exit"},{"id":"a","type":"exit"}]}', 'steps.1.id is the id of another step too.'],
    ['{"steps":[{"id":"a","type":"toString"}]}', 'steps.0.type must be one of: send, wait, '],
    ['{"steps":[{"id":"a","type":"split","branches":[{"percent":"x"}]}]}', 'steps.0.branches has the wrong type.'],
    ['{"steps":[null]}', 'steps.0.id must be'],
  ])('%s is refused with a reason that names the field', (text, reason) => {
    expect(stepsFromText(text)).toContain(reason);
  });
});

describe('the differences of a draft', () => {
  test('steps are new, changed or removed; the order of members does not matter, nor whether an end is null or missing', () => {
    const published = of(wait('a', 'b'), { id: 'b', type: 'send', from: 'x', next: null }, wait('c'));
    const draft = of(wait('a', 'b'), { from: 'x', type: 'send', id: 'b' }, wait('d', 'a'));
    expect(differencesOf(draft, published)).toEqual({
      steps: new Map([
        ['d', 'added'],
        ['c', 'removed'],
      ]),
      entry: false,
      rules: false,
    });
    const call: Step = { id: 'call', type: 'webhook', url: 'https://example.com' };
    expect(differencesOf(of({ ...call, onFailure: null }), of(call)).steps).toEqual(new Map([['call', 'changed']]));
    expect(differencesOf(of(wait('a', null), wait('b')), of(wait('a', 'b'), wait('b'))).steps).toEqual(
      new Map([['a', 'changed']]),
    );
  });

  test('the entry differs if contacts begin at another step, and the rules if one does', () => {
    const one = of(wait('a', 'b'), wait('b'));
    expect(differencesOf(of(wait('b'), wait('a', 'b')), one)).toMatchObject({ entry: true, rules: false });
    expect(differencesOf({ ...one, goal: { event: 'paid' } }, one)).toMatchObject({ entry: false, rules: true });
  });
});

describe('counts', () => {
  const definition = of(
    { id: 'wait', type: 'wait_for_event', event: 'x', timeout: { days: 1 }, next: 'b', onTimeout: 'b' },
    wait('b'),
  );
  const nodes = graphOf(definition);
  const passed = (id: string, key: string, counts: ReturnType<typeof countsOf>) => {
    const node = nodes.find((each) => each.id === id);
    const edge = node?.exits.find((each) => each.key === key);
    return node && edge && counts.passed(node, edge);
  };

  test('contacts of all versions are counted at each step', () => {
    const counts = countsOf(
      [
        { stepId: 'b', contactCount: 2 },
        { stepId: 'b', contactCount: 3 },
      ],
      [],
    );
    expect([counts.here('b'), counts.here('wait'), counts.outcomes('b')]).toEqual([5, 0, []]);
    expect(passed('b', 'next', counts)).toBe(0);
  });

  test('ways to the same step are told apart by their outcomes, and moves by hand and goals take none', () => {
    const passage = (stepId: string | null, outcome: string | null, toStepId: string | null, runCount: number) => ({
      stepId,
      outcome,
      toStepId,
      runCount,
    });
    const counts = countsOf(
      [],
      [
        passage(null, null, 'wait', 20),
        passage('wait', 'event', 'b', 5),
        passage('wait', 'timeout', 'b', 7),
        passage('wait', 'moved', 'b', 1),
        passage('wait', 'goal', null, 4),
        passage('b', 'waited', null, 6),
        passage('b', 'goal', null, 3),
      ],
    );
    expect(passed(ENTRY, 'first', counts)).toBe(20);
    expect([passed('wait', 'next', counts), passed('wait', 'onTimeout', counts)]).toEqual([5, 7]);
    expect(passed('b', 'next', counts)).toBe(6);
    expect(counts.outcomes('b')).toEqual([
      { outcome: 'waited', count: 6 },
      { outcome: 'goal', count: 3 },
    ]);
  });
});
