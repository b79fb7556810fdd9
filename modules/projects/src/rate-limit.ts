import { config, TokenBucket } from '@postroom/platform';

/** The remaining allowance after a request, allowed or not. */
export interface Allowance {
  allowed: boolean;
  /** Whose allowance this is: the caller's or the project's, whichever is closer to its limit. */
  of: 'caller' | 'project';
  /** Requests per second. */
  limit: number;
  remaining: number;
}

/** Least recently used first; buckets unused for long are full again and can be evicted. */
const buckets = new Map<string, TokenBucket>();
const MAX_BUCKETS = 20_000;

/**
 * Takes one request from the allowances of the caller (a key or user) and of the project, which all its callers
 * share. Both refill evenly (design: Limits). Each process counts separately.
 */
export function takeRequest(callerId: string, projectId: string | undefined): Allowance {
  const { RATE_LIMIT_PER_SECOND: perCaller, RATE_LIMIT_PROJECT_PER_SECOND: perProject } = config;
  const own = bucketOf(callerId, perCaller);
  const shared = projectId === undefined ? undefined : bucketOf(projectId, perProject);
  const allowed = own.available() >= 1 && (shared === undefined || shared.available() >= 1);
  if (allowed) {
    own.spend(1);
    shared?.spend(1);
  }
  const [ownLeft, sharedLeft] = [own.available(), shared?.available() ?? Infinity];
  return sharedLeft < ownLeft
    ? { allowed, of: 'project', limit: perProject, remaining: Math.floor(sharedLeft) }
    : { allowed, of: 'caller', limit: perCaller, remaining: Math.floor(ownLeft) };
}

function bucketOf(id: string, limit: number): TokenBucket {
  const bucket = buckets.get(id) ?? new TokenBucket({ ratePerSecond: limit, capacity: limit });
  buckets.delete(id);
  if (buckets.size >= MAX_BUCKETS) for (const oldest of buckets.keys()) if (buckets.delete(oldest)) break;
  buckets.set(id, bucket);
  return bucket;
}
