import type { ServerResponse } from 'node:http';
import { type Caller, RateLimited } from '@postroom/platform';
import { takeRequest as take } from '@postroom/projects';
import { projectOf } from '../identify.ts';

/**
 * Takes one request from the allowances of a caller and of its project, and says in the IETF headers what is left of the one
 * that is nearer to its end. REST and GraphQL take from the same.
 * @throws RateLimited when none is left.
 */
export function takeRequest(caller: Caller, response: ServerResponse): void {
  const { allowed, of, limit, remaining } = take(caller.id, projectOf(caller));
  response.setHeader('RateLimit-Limit', limit);
  response.setHeader('RateLimit-Remaining', remaining);
  response.setHeader('RateLimit-Reset', 1);
  response.setHeader('RateLimit-Policy', `${limit};w=1`);
  if (allowed) return;
  const who = of === 'project' ? 'The callers of this project together' : caller.kind === 'key' ? 'This key' : 'You';
  throw new RateLimited(`${who} may make ${limit} requests a second.`, 1);
}
