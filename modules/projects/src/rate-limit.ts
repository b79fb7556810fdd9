import { config, SharedRate } from '@postroom/platform';

/** The remaining allowance after a request, allowed or not. */
export interface Allowance {
  allowed: boolean;
  /** Whose allowance this is: the caller's or the project's, whichever is closer to its limit. */
  of: 'caller' | 'project';
  /** Requests per second. */
  limit: number;
  remaining: number;
}

/** Least recently used first. A process that has forgotten one takes another slice. */
const rates = new Map<string, SharedRate>();
const MAX_RATES = 20_000;

/** A process lets through this part of a rate, rounded down, before it takes a slice: the rare requests need none. */
const CREDIT = 1 / 20;

/**
 * Takes one request from the allowances of the caller (a key or user) and of the project, which all its callers share. Both refill
 * evenly (design: Limits) and hold across all processes. Most requests need no statement: see `SharedRate`.
 */
export async function takeRequest(callerId: string, projectId: string | undefined): Promise<Allowance> {
  const { RATE_LIMIT_PER_SECOND: perCaller, RATE_LIMIT_PROJECT_PER_SECOND: perProject } = config;
  const own = rateOf(callerId, perCaller);
  const shared = projectId === undefined ? undefined : rateOf(projectId, perProject);
  const allowed = await takeFromAll(shared === undefined ? [own] : [own, shared]);
  const [ownLeft, sharedLeft] = [own.remaining(), shared?.remaining() ?? Infinity];
  return sharedLeft < ownLeft
    ? { allowed, of: 'project', limit: perProject, remaining: Math.floor(sharedLeft) }
    : { allowed, of: 'caller', limit: perCaller, remaining: Math.floor(ownLeft) };
}

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

function rateOf(id: string, limit: number): SharedRate {
  const options = { ratePerSecond: limit, capacity: limit, credit: Math.floor(limit * CREDIT) };
  const rate = rates.get(id) ?? new SharedRate(`requests ${id}`, options);
  rate.setRate(options);
  rates.delete(id);
  if (rates.size >= MAX_RATES) for (const oldest of rates.keys()) if (rates.delete(oldest)) break;
  rates.set(id, rate);
  return rate;
}
