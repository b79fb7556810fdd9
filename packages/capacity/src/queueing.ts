/** Jobs of one kind at a station: how many arrive per second, and how long each takes on average, in seconds. */
export interface Jobs {
  rate: number;
  seconds: number;
}

/** How long a job waits before it is served, in seconds; infinite if more arrives than can be served. */
export interface Wait {
  mean: number;
  p99: number;
}

/**
 * The probability that a job waits (Erlang C), when `load` servers of `servers` are busy on average, by the recursion of Erlang B:
 * B(0) = 1, B(n) = aB(n-1) / (n + aB(n-1)), C = B / (1 - ρ(1 - B)).
 */
export function erlangC(servers: number, load: number): number {
  if (load >= servers) return 1;
  let blocked = 1;
  for (let n = 1; n <= servers; n++) blocked = (load * blocked) / (n + load * blocked);
  return blocked / (1 - (load / servers) * (1 - blocked));
}

/**
 * The wait at a station with several servers and one queue, by the approximation of Allen and Cunneen for M/G/c (A. O. Allen,
 * Probability, Statistics, and Queueing Theory, 2nd edition, 1990). It is the wait of M/M/c times (1 + c²) / 2, with the squared
 * coefficient of variation of the service times. Each kind of job has exponential service times, so all kinds together vary more.
 * The tail is taken as exponential, as in M/M/c.
 */
export function waitAt(servers: number, jobs: readonly Jobs[]): Wait {
  const arrivals = jobs.reduce((sum, { rate }) => sum + rate, 0);
  const load = jobs.reduce((sum, { rate, seconds }) => sum + rate * seconds, 0);
  if (arrivals === 0 || load === 0) return { mean: 0, p99: 0 };
  if (load >= servers) return { mean: Infinity, p99: Infinity };
  const mean = load / arrivals;
  const secondMoment = jobs.reduce((sum, { rate, seconds }) => sum + rate * 2 * seconds ** 2, 0) / arrivals;
  const variation = secondMoment / mean ** 2 - 1;
  const waits = erlangC(servers, load);
  const drain = (mean / (servers - load)) * ((1 + variation) / 2);
  return { mean: waits * drain, p99: Math.max(0, Math.log(waits / 0.01)) * drain };
}
