import type { IncomingMessage, ServerResponse } from 'node:http';
import { authenticateUser } from '@postroom/auth';
import { DomainError, type StreamRoute } from '@postroom/platform';
import type { GraphQLSchema } from 'graphql';
import { answerError } from './rest/http.ts';
import { requestIdOf } from './rest/facade.ts';
import { Router } from './rest/router.ts';
import { prepareStream } from './rest/streams.ts';

/** Such as `/app/downloads/prj_…/contacts/export`: the project, then the path of the route of `/v1`. */
export const DOWNLOADS_PATH = '/app/downloads/';

/**
 * Answers signed-in people with the files that programs get by their keys from `/v1`: a link in the dashboard carries the cookie,
 * but no header that could name the project, so the path does. Only routes that change nothing are open to links.
 */
export function createDownloads(schema: GraphQLSchema, streams: readonly StreamRoute[]) {
  const files = streams.filter(({ method }) => method === 'GET');
  const router = new Router(files.map((route) => prepareStream(schema, route)));

  return async function answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const requestId = requestIdOf(request);
    response.setHeader('X-Request-Id', requestId);
    try {
      if (request.method !== 'GET') {
        response.setHeader('Allow', 'GET');
        throw new DomainError('method_not_allowed', 'A file is got.');
      }
      const [projectId = '', ...rest] = path.slice(DOWNLOADS_PATH.length).split('/');
      const person = await authenticateUser(request.headers, projectId);
      if (person === null) throw new DomainError('unauthorized', 'Sign in first.');
      if (!person.may('read', projectId)) throw new DomainError('forbidden', 'You are no member of this project.');
      const match = router.find(`/v1/${rest.join('/')}`);
      const found = match?.byMethod.get('GET');
      if (match === undefined || found === undefined)
        throw new DomainError('not_found', 'There is nothing at this address.');
      const { params } = match;
      await found.answer({ caller: person, requestId, params, request, response, key: undefined });
    } catch (error) {
      answerError(response, error, requestId);
    }
  };
}
