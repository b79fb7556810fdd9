import type { ServerResponse } from 'node:http';
import { type Caller, RateLimited } from '@postroom/platform';
import { takeRequest } from '@postroom/projects';
import { projectOf } from '../identify.ts';

/**
 * Takes one request from the quotas of a caller and its project, and sets the IETF RateLimit headers for the one closer
 * to its limit. REST and GraphQL share the quotas.
 * @throws RateLimited when a quota is used up.
 */
export async function enforceRateLimit(caller: Caller, response: ServerResponse): Promise<void> {
  const { allowed, of, limit, remaining } = await takeRequest(caller.id, projectOf(caller));
  response.setHeader('RateLimit-Limit', limit);
  response.setHeader('RateLimit-Remaining', remaining);
  response.setHeader('RateLimit-Reset', 1);
  response.setHeader('RateLimit-Policy', `${limit};w=1`);
  if (allowed) return;
  const who = of === 'project' ? 'All callers of this project together' : caller.kind === 'key' ? 'This key' : 'You';
  throw new RateLimited(`${who} may make ${limit} requests per second.`, 1);
}
