import type { IncomingMessage, ServerResponse } from 'node:http';
import { authenticateUser } from '@postroom/auth';
import { DomainError, type StreamRoute } from '@postroom/platform';
import type { GraphQLSchema } from 'graphql';
import { answerError } from './rest/http.ts';
import { requestIdOf } from './rest/facade.ts';
import { Router } from './rest/router.ts';
import { prepareStream } from './rest/streams.ts';

/** Such as `/app/downloads/prj_…/contacts/export`: the project, then the path of a `/v1` route. */
export const DOWNLOADS_PATH = '/app/downloads/';

/**
 * Lets signed-in users download the files that API keys get from `/v1`, and those for users only. A dashboard link sends the cookie but can't
 * send a project header, so the project is in the path. Only read-only routes are available.
 */
export function createDownloads(schema: GraphQLSchema, streams: readonly StreamRoute[]) {
  const files = streams.filter(({ method }) => method === 'GET');
  const router = new Router(files.map((route) => prepareStream(schema, route)));

  return async function answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const requestId = requestIdOf(request);
    try {
      if (request.method !== 'GET') {
        response.setHeader('Allow', 'GET');
        throw new DomainError('method_not_allowed', 'Use GET.');
      }
      const [projectId = '', ...rest] = path.slice(DOWNLOADS_PATH.length).split('/');
      const person = await authenticateUser(request.headers, projectId);
      if (person === null) throw new DomainError('unauthorized', 'Sign in first.');
      if (!person.may('read', projectId)) throw new DomainError('forbidden', 'You are not a member of this project.');
      const match = router.find(`/v1/${rest.join('/')}`);
      const found = match?.byMethod.get('GET');
      if (match === undefined || found === undefined) throw new DomainError('not_found', 'Not found.');
      const { params } = match;
      await found.answer({ caller: person, requestId, params, request, response, key: undefined });
    } catch (error) {
      answerError(response, error);
    }
  };
}
