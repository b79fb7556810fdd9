import type { ServerResponse } from 'node:http';
import { DomainError } from '@postroom/platform';
import { takeRequest as take } from '@postroom/projects';

/**
 * Takes one request from a key's allowance, and says in the IETF headers what is left.
 * @throws DomainError `rate_limited`, with `Retry-After`, when none is left.
 */
export function takeRequest(keyId: string, response: ServerResponse): void {
  const { allowed, limit, remaining } = take(keyId);
  response.setHeader('RateLimit-Limit', limit);
  response.setHeader('RateLimit-Remaining', remaining);
  response.setHeader('RateLimit-Reset', 1);
  response.setHeader('RateLimit-Policy', `${limit};w=1`);
  if (allowed) return;
  response.setHeader('Retry-After', 1);
  throw new DomainError('rate_limited', `This key may make ${limit} requests a second.`);
}
