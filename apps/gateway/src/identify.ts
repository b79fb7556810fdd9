import type { IncomingHttpHeaders } from 'node:http';
import { authenticateUser } from '@postroom/auth';
import type { Caller } from '@postroom/platform';
import { authenticate } from '@postroom/projects';

/**
 * Who sends requests with these headers: a key, or a person by their cookie; null when the headers name nobody.
 * @param project the project to act on; what `X-Project-Id` says when not given.
 * @throws DomainError `unauthorized`, or `forbidden` for a cookie that another site sent along.
 */
export async function identify(headers: IncomingHttpHeaders, project?: string): Promise<Caller | null> {
  const named = project ?? [headers['x-project-id']].flat()[0];
  return headers.authorization === undefined
    ? authenticateUser(headers, named)
    : authenticate(headers.authorization, named);
}

/** The project that a caller acts on; `undefined` when the request names none of several. */
export function projectOf(caller: Caller): string | undefined {
  try {
    return caller.projectId;
  } catch {
    return undefined;
  }
}
