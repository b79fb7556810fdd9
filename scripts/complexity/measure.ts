/** Measures how a parser's time grows with its input. */
export interface Growth {
  /** The length at which it was measured, and the CPU time for it and for twice as much, in milliseconds. */
  length: number;
  once: number;
  twice: number;
}

/** Doubling an input may multiply the time by so much; it would be 2 for a linear parser, and 4 for a quadratic one. */
export const MAX_FACTOR = 2.5;

/** Below this nothing is measured: an input is made longer until it takes so long, in milliseconds. */
const MEASURABLE_MS = 15;
const TRIES = 5;
/** A factor counts when it is too large so many times in a row: other work on the machine makes a run slower, and never faster. */
const CONFIRMATIONS = 4;

/**
 * Gives a parser longer and longer inputs, until one takes a measurable time or has `longest` characters, and then one of twice the
 * length. Returns how the time grew if it grew too much; undefined for a parser that is linear, or too quick for it to matter.
 */
export async function superlinear(
  parse: (text: string) => unknown,
  inputOf: (length: number) => string,
  { shortest = 64, longest = 64 * 1024 } = {},
): Promise<Growth | undefined> {
  for (let length = shortest; length <= longest; length *= 4) {
    const [input, doubled] = [inputOf(length), inputOf(length * 2)];
    if ((await cpuTime(parse, input)) < MEASURABLE_MS) continue;
    for (let confirmed = 0; ; confirmed++) {
      const [once, twice] = [await bestOf(parse, input), await bestOf(parse, doubled)];
      // What was slow for the first time only, while it was being compiled, is made longer.
      if (once < MEASURABLE_MS / 2) break;
      if (twice <= once * MAX_FACTOR) return undefined;
      if (confirmed === CONFIRMATIONS) return { length, once, twice };
    }
  }
  return undefined;
}

async function bestOf(parse: (text: string) => unknown, input: string): Promise<number> {
  let best = Infinity;
  for (let tries = 0; tries < TRIES; tries++) best = Math.min(best, await cpuTime(parse, input));
  return best;
}

/** The CPU time of this thread, so that it does not count while others have the processor. What a parser refuses is as good. */
async function cpuTime(parse: (text: string) => unknown, input: string): Promise<number> {
  const before = process.threadCpuUsage();
  try {
    await parse(input);
  } catch {
    // Refused.
  }
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/** Inputs made of a parser's tokens: each repeated, two in turn, many of one and then of another, one and then many of another. */
export function* inputsOf(tokens: readonly string[], random: (below: number) => number) {
  const fill = (unit: string, length: number) => unit.repeat(Math.max(1, Math.ceil(length / unit.length)));
  for (const a of tokens) {
    yield { name: `${show(a)} …`, make: (length: number) => fill(a, length) };
    for (const b of tokens) {
      if (a === b) continue;
      yield { name: `${show(a + b)} …`, make: (length: number) => fill(a + b, length) };
      yield { name: `${show(a)} ${show(b)} …`, make: (length: number) => a + fill(b, length) };
      yield { name: `${show(a)} … ${show(b)} …`, make: (length: number) => fill(a, length / 2) + fill(b, length / 2) };
      yield { name: `x${show(a)} … ${show(b)}x`, make: (length: number) => `x${fill(a, length)}${b}x` };
    }
  }
  const pick = () => tokens[random(tokens.length)] ?? '';
  for (let count = 0; count < 60; count++) {
    const [head, unit, end] = [`${pick()}${pick()}`, `${pick()}${pick()}${pick()}`, `${pick()}${pick()}`];
    yield {
      name: `${show(head)} ${show(unit)} … ${show(end)}`,
      make: (length: number) => head + fill(unit, length) + end,
    };
  }
}

const show = (text: string) => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);

/** Numbers below `below`, the same in every run. */
export function seededRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => (state = (state * 48271) % 2147483647) % below;
}
