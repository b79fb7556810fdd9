import type { IncomingHttpHeaders } from 'node:http';
import { authenticateUser } from '@postroom/auth';
import type { Caller } from '@postroom/platform';
import { authenticate } from '@postroom/projects';

/**
 * Identifies the caller from request headers: an API key, or a user by their cookie; null without credentials.
 * @param project the project to act on; defaults to `X-Project-Id`.
 * @throws DomainError `unauthorized`, or `forbidden` for a cookie that another site sent.
 */
export async function identify(headers: IncomingHttpHeaders, project?: string): Promise<Caller | null> {
  const named = project ?? [headers['x-project-id']].flat()[0];
  return headers.authorization === undefined
    ? authenticateUser(headers, named)
    : authenticate(headers.authorization, named);
}

/** The project a caller acts on; `undefined` if the request names none of several. */
export function projectOf(caller: Caller): string | undefined {
  try {
    return caller.projectId;
  } catch {
    return undefined;
  }
}
