import { config } from '@postroom/platform';

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** What is left of an allowance, after a request that was allowed or not. */
export interface Allowance {
  allowed: boolean;
  /** Whose allowance it is: that of the two which is nearer to its end. */
  of: 'caller' | 'project';
  /** Requests a second. */
  limit: number;
  remaining: number;
}

/** The oldest use first: what has not been used for long is full again, and forgotten when there are too many. */
const buckets = new Map<string, Bucket>();
const MAX_BUCKETS = 20_000;

/**
 * Takes one request from the allowance of a caller, which is a key or a person, and from that of the project, which all its
 * callers share. Both refill evenly (design: Limits). Each program counts for itself.
 */
export function takeRequest(callerId: string, projectId: string | undefined, now = Date.now()): Allowance {
  const { RATE_LIMIT_PER_SECOND: perCaller, RATE_LIMIT_PROJECT_PER_SECOND: perProject } = config;
  const own = filled(callerId, perCaller, now);
  const shared = projectId === undefined ? undefined : filled(projectId, perProject, now);
  const allowed = own.tokens >= 1 && (shared === undefined || shared.tokens >= 1);
  if (allowed) {
    own.tokens -= 1;
    if (shared !== undefined) shared.tokens -= 1;
  }
  return shared !== undefined && shared.tokens < own.tokens
    ? { allowed, of: 'project', limit: perProject, remaining: Math.floor(shared.tokens) }
    : { allowed, of: 'caller', limit: perCaller, remaining: Math.floor(own.tokens) };
}

function filled(id: string, limit: number, now: number): Bucket {
  const bucket = buckets.get(id) ?? { tokens: limit, filledAt: now };
  bucket.tokens = Math.min(limit, bucket.tokens + ((now - bucket.filledAt) / 1000) * limit);
  bucket.filledAt = now;
  buckets.delete(id);
  if (buckets.size >= MAX_BUCKETS) for (const oldest of buckets.keys()) if (buckets.delete(oldest)) break;
  buckets.set(id, bucket);
  return bucket;
}
