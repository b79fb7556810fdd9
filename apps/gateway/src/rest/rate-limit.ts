import type { ServerResponse } from 'node:http';
import { config, DomainError } from '@postroom/platform';

interface Bucket {
  tokens: number;
  filledAt: number;
}

const buckets = new Map<string, Bucket>();
const MAX_BUCKETS = 10_000;

/**
 * Takes one request from a key's allowance, which refills evenly (design: Limits), and says in the IETF headers what is left.
 * Each gateway counts for itself.
 * @throws DomainError `rate_limited`, with `Retry-After`, when none is left.
 */
export function takeRequest(keyId: string, response: ServerResponse, now = Date.now()): void {
  const limit = config.RATE_LIMIT_PER_SECOND;
  const bucket = buckets.get(keyId) ?? { tokens: limit, filledAt: now };
  bucket.tokens = Math.min(limit, bucket.tokens + ((now - bucket.filledAt) / 1000) * limit);
  bucket.filledAt = now;
  if (buckets.size >= MAX_BUCKETS && !buckets.has(keyId)) buckets.clear();
  buckets.set(keyId, bucket);
  const allowed = bucket.tokens >= 1;
  if (allowed) bucket.tokens -= 1;
  response.setHeader('RateLimit-Limit', limit);
  response.setHeader('RateLimit-Remaining', Math.floor(bucket.tokens));
  response.setHeader('RateLimit-Reset', 1);
  response.setHeader('RateLimit-Policy', `${limit};w=1`);
  if (allowed) return;
  response.setHeader('Retry-After', 1);
  throw new DomainError('rate_limited', `This key may make ${limit} requests a second.`);
}
