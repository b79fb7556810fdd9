import { config, FairSemaphore, inTransaction, REQUESTS, SharedRate } from '@postroom/platform';

/** The remaining allowance after a request, allowed or not. */
export interface Allowance {
  allowed: boolean;
  /** Whose allowance this is: the caller's or the project's, whichever is closer to its limit. */
  of: 'caller' | 'project';
  /** Requests per second. */
  limit: number;
  remaining: number;
}

/** A process lets through this part of a rate, rounded down, before it takes a slice: the rare requests need none. */
const CREDIT = 1 / 20;

/**
 * Takes one request from the allowances of the caller (a key or user) and of the project, which all its callers share. Both refill
 * evenly (design: Limits) and hold across all processes. Most requests need no statement: see `SharedRate`.
 */
export async function takeRequest(callerId: string, projectId: string | undefined): Promise<Allowance> {
  const { RATE_LIMIT_PER_SECOND: perCaller, RATE_LIMIT_PROJECT_PER_SECOND: perProject } = config;
  const own = ofCallers.of(callerId, perCaller);
  const shared = projectId === undefined ? undefined : ofCallers.of(projectId, perProject);
  const allowed = await takeFromAll(shared === undefined ? [own] : [own, shared]);
  const [ownLeft, sharedLeft] = [own.remaining(), shared?.remaining() ?? Infinity];
  return sharedLeft < ownLeft
    ? { allowed, of: 'project', limit: perProject, remaining: whole(sharedLeft, perProject) }
    : { allowed, of: 'caller', limit: perCaller, remaining: whole(ownLeft, perCaller) };
}

/** A process may have tokens that the bucket has refilled since, so that both have more than the limit; this request took one. */
const whole = (left: number, limit: number) => Math.min(Math.floor(left), limit - 1);

/** Takes a token from each rate, or none; first a slice where this process has no token left. @returns false if one is used up. */
async function takeFromAll(rates: readonly SharedRate[]): Promise<boolean> {
  for (;;) {
    const missing = rates.filter((rate) => rate.available() < 1);
    if (missing.length === 0) {
      for (const rate of rates) rate.tryTake();
      return true;
    }
    if (missing.some((rate) => rate.isExhausted())) return false;
    await Promise.all(missing.map((rate) => rate.refill()));
  }
}

/** Rates by id, least recently used first. A process that has forgotten one takes another slice. */
class Rates {
  readonly #name: string;
  readonly #rates = new Map<string, SharedRate>();

  constructor(name: string) {
    this.#name = name;
  }

  of(id: string, ratePerSecond: number, capacity = ratePerSecond): SharedRate {
    const options = { ratePerSecond, capacity, credit: Math.floor(ratePerSecond * CREDIT) };
    const rate = this.#rates.get(id) ?? new SharedRate(`${this.#name} ${id}`, options);
    rate.setRate(options);
    this.#rates.delete(id);
    if (this.#rates.size >= MAX_RATES) for (const oldest of this.#rates.keys()) if (this.#rates.delete(oldest)) break;
    this.#rates.set(id, rate);
    return rate;
  }
}

const MAX_RATES = 20_000;
const ofCallers = new Rates(REQUESTS);
/** Apart from those of callers, since anyone may cause many. */
const ofVisitors = new Rates('visits');

/** A rate that applies to requests without a caller, such as those of one network address. */
export interface VisitLimit {
  id: string;
  ratePerSecond: number;
  /** How many requests may come at once. */
  capacity: number;
}

/** Takes one request from each of the allowances of a visitor, or from none. They hold across all processes. @returns false if one is used up. */
export const takeVisit = (limits: readonly VisitLimit[]): Promise<boolean> =>
  takeFromAll(limits.map(({ id, ratePerSecond, capacity }) => ofVisitors.of(id, ratePerSecond, capacity)));

const forVisitors = new FairSemaphore({ total: Infinity, perKey: 2 });

/**
 * Runs a transaction for a recipient or a visitor, to whom the limits of API keys don't apply. It may wait for the project's bulk work, so
 * only two run at once per project and process: others would take all connections meanwhile.
 */
export const inVisitorTransaction = <T>(projectId: string, work: Parameters<typeof inTransaction<T>>[0]): Promise<T> =>
  forVisitors.run(projectId, () => inTransaction(work));

const forReports = new FairSemaphore({ total: Infinity, perKey: 4, waitingPerKey: 60 });

/**
 * Runs work for a bounce or a provider's report, which others cause and which may wait long for the project's bulk work, so those of a
 * project must hold neither all connections meanwhile nor all sessions of their senders, who try again.
 * @throws RateLimited if many of the project already wait.
 */
export const runForReport = <T>(projectId: string, work: () => Promise<T>): Promise<T> =>
  forReports.run(projectId, work);
