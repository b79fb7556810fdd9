import { createHash } from 'node:crypto';

/**
 * Time of one reference loop on a standard core, in milliseconds. Costs are stated in microseconds of that core, which is
 * about as fast as one of the machine that measured them when it had nothing else to do.
 */
const STANDARD_MS = 1.3;

const ROUNDS = 300;
const RECORD = JSON.stringify({
  id: 'eml_01k9zq4c8fe1m9v3t5w7y2a4b6',
  email: 'ada@example.com',
  values: { name: 'Ada', plan: 'pro', city: 'London' },
  text: 'We have gathered what changed this month, with notes on each of the releases. '.repeat(8),
});

/** Work of the kinds that programs do for an email: parsing and printing JSON, replacing, looking up, hashing. Always the same. */
function referenceLoop(): number {
  const seen = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round++) {
    const record = JSON.parse(RECORD) as { id: string; text: string };
    const text = record.text.replaceAll('month', `month ${round}`);
    const hash = createHash('sha256').update(text).digest('hex');
    seen.set(hash, JSON.stringify({ ...record, text }).length);
  }
  return seen.size;
}

/** A low quantile is what the core does; slower loops were interrupted, or waited for memory that others used. */
const QUANTILE = 0.1;
const typical = (times: readonly number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length * QUANTILE)] ?? 0;

/** The speed of the core this runs on relative to a standard core: twice as fast is 2. */
export class SpeedProbe {
  readonly #times: number[] = [];

  constructor() {
    for (let warmUp = 0; warmUp < 20; warmUp++) referenceLoop();
  }

  /** Runs one loop, which is shorter than the turns in which programs get a core. */
  sample(): void {
    const before = performance.now();
    referenceLoop();
    this.#times.push(performance.now() - before);
  }

  /** The speed of the samples since the last call; 1 without samples. */
  take(): number {
    const times = this.#times.splice(0);
    return times.length === 0 ? 1 : STANDARD_MS / typical(times);
  }
}

/** The speed of this machine's cores, in about a second. */
export function measureSpeed(): number {
  const probe = new SpeedProbe();
  for (let sample = 0; sample < 500; sample++) probe.sample();
  return probe.take();
}
