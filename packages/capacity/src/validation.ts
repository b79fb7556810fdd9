import { type Demand, demandOf, type Rates } from './demand.ts';
import { type Costs, PROGRAMS } from './operations.ts';

/** All operations at once, as `npm run bench -- capacity --mix` measured them. */
export interface Mix {
  command: string;
  date: string;
  /** A multiple of the smallest mix. */
  size: number;
  seconds: number;
  /** Of a core meanwhile, relative to a standard core. */
  speed: number;
  rates: Rates;
  /** Per second. */
  used: Demand;
  /** Of a transactional email, from the commit of its row to the mail server. */
  delayMs: { p50: number; p99: number };
}

/** A predicted and a measured use per second, and the error relative to the measured one. */
export interface Comparison {
  predicted: number;
  measured: number;
  error: number;
}

const sum = (numbers: Record<string, number>) => Object.values(numbers).reduce((total, each) => total + each, 0);

/** How far the model is from a mix, by resource. */
export function errorsOf({ rates, used, seconds }: Mix, costs: Costs): Record<string, Comparison> {
  const demand = demandOf(rates, costs, { checkpointSeconds: seconds });
  const compare = (of: (demand: Demand) => number): Comparison => {
    const [predicted, measured] = [of(demand), of(used)];
    return { predicted, measured, error: predicted / measured - 1 };
  };
  return {
    ...Object.fromEntries(PROGRAMS.map((program) => [`${program}, cores`, compare(({ cpu }) => cpu[program])])),
    'all programs, cores': compare(({ cpu }) => sum(cpu)),
    'database, KB/s': compare(({ bytes }) => sum(bytes) / 1000),
    'WAL, KB/s': compare(({ walBytes }) => walBytes / 1000),
    'writes/s': compare(({ writes }) => writes),
    'Temporal actions/s': compare(({ actions }) => actions),
  };
}

const MAX_SHARING = 4;
const SHARING_STEP = 0.05;

/** The sharing factor with which a mix is predicted best, by the CPU time of all programs. */
export function fitSharing(mix: Mix, costs: Costs): number {
  let best = { factor: 1, error: Infinity };
  for (let step = 0; 1 + step * SHARING_STEP <= MAX_SHARING; step++) {
    const factor = Math.round((1 + step * SHARING_STEP) * 100) / 100;
    const predicted = errorsOf(mix, { ...costs, sharing: { ...costs.sharing, factor } });
    const error = Math.abs(predicted['all programs, cores']?.error ?? Infinity);
    if (error < best.error) best = { factor, error };
  }
  return best.factor;
}
