/** Measures how a parser's running time grows with its input. */
export interface Growth {
  /** The measured input length, and the CPU time in milliseconds for that length and for twice that length. */
  length: number;
  once: number;
  twice: number;
}

/** Largest allowed growth in time when the input doubles: 2 for a linear parser, 4 for a quadratic one. */
const MAX_FACTOR = 2.5;

/** Minimum time of a measurement in milliseconds: inputs are lengthened until they take this long. */
const MEASURABLE_MS = 15;
const TRIES = 5;
/** Consecutive times that a factor must be too large to count: other load makes a run slower, never faster. */
const CONFIRMATIONS = 4;

/**
 * Runs a parser on longer and longer inputs, until one takes a measurable time or has `longest` characters, and then on one of
 * twice the length. Returns the growth if it is too large; undefined for a parser that is linear or fast enough.
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
      // If only the first run was slow, because of compilation, lengthen the input.
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

/** The CPU time of this thread, so that time given to other processes does not count. An input that the parser rejects counts too. */
async function cpuTime(parse: (text: string) => unknown, input: string): Promise<number> {
  const before = process.threadCpuUsage();
  try {
    await parse(input);
  } catch {
    // Rejected.
  }
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/** Inputs made of a parser's tokens: each repeated, two alternating, many of one and then of another, one and then many of another. */
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
