import { expect, test } from 'vitest';
import { inputsOf, seededRandom, superlinear } from './measure.ts';
import { PARSERS } from './parsers.ts';

/**
 * How long to try a parser's inputs, in milliseconds; set a longer time to explore further. Known slow inputs come first, the others
 * in an order seeded by the parser's name.
 */
const BUDGET_MS = Number(process.env.COMPLEXITY_MS ?? 150);

test('a quadratic parser is detected, and a linear one passes', { timeout: 60_000 }, async () => {
  const quadratic = (text: string) => {
    let count = 0;
    for (let at = 0; at < text.length; at++)
      for (let from = at; from < text.length; from++) if (text.charCodeAt(from) === 98) count++;
    return count;
  };
  const linear = (text: string) => text.replace(/a/g, 'bb').split('b').length;
  const make = (length: number) => 'a'.repeat(length);
  // Long enough to be measurable, and so short that the measurements take some seconds on a slow machine.
  expect(await superlinear(quadratic, make, { shortest: 8_192 })).toMatchObject({
    length: expect.any(Number),
  });
  expect(await superlinear(linear, make)).toBeUndefined();
});

test.each(PARSERS.map((parser) => [parser.name, parser] as const))(
  '%s: twice the input takes at most two and a half times as long',
  async (name, { parse, tokens, known = [], shortest = 64 }) => {
    const random = seededRandom([...name].reduce((seed, letter) => seed * 31 + letter.charCodeAt(0), 7) % 2147483647);
    const inputs = [
      ...known.map((make, index) => ({ name: `known ${index}`, make })),
      ...shuffled([...inputsOf(tokens, random)], random),
    ];
    const endsAt = performance.now() + BUDGET_MS;
    for (const [index, { name: input, make }] of inputs.entries()) {
      if (index >= known.length && performance.now() > endsAt) break;
      expect(await superlinear(parse, make, { shortest }), input).toBeUndefined();
    }
  },
  60_000,
);

function shuffled<Item>(items: Item[], random: (below: number) => number): Item[] {
  for (let last = items.length - 1; last > 0; last--) {
    const other = random(last + 1);
    [items[last], items[other]] = [items[other] as Item, items[last] as Item];
  }
  return items;
}
