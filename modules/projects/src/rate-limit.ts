import { config } from '@postroom/platform';

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** What is left of a key's allowance, after a request that was allowed or not. */
export interface Allowance {
  allowed: boolean;
  /** Requests a second. */
  limit: number;
  remaining: number;
}

const buckets = new Map<string, Bucket>();
const MAX_BUCKETS = 10_000;

/** Takes one request from a key's allowance, which refills evenly (design: Limits). Each program counts for itself. */
export function takeRequest(keyId: string, now = Date.now()): Allowance {
  const limit = config.RATE_LIMIT_PER_SECOND;
  const bucket = buckets.get(keyId) ?? { tokens: limit, filledAt: now };
  bucket.tokens = Math.min(limit, bucket.tokens + ((now - bucket.filledAt) / 1000) * limit);
  bucket.filledAt = now;
  if (buckets.size >= MAX_BUCKETS && !buckets.has(keyId)) buckets.clear();
  buckets.set(keyId, bucket);
  const allowed = bucket.tokens >= 1;
  if (allowed) bucket.tokens -= 1;
  return { allowed, limit, remaining: Math.floor(bucket.tokens) };
}
