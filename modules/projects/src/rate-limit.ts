import { config } from '@postroom/platform';

interface Bucket {
  tokens: number;
  filledAt: number;
}

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
const buckets = new Map<string, Bucket>();
const MAX_BUCKETS = 20_000;

/**
 * Takes one request from the allowances of the caller (a key or user) and of the project, which all its callers
 * share. Both refill evenly (design: Limits). Each process counts separately.
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
