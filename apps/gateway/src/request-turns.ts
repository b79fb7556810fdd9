import { type Caller, config, FairSemaphore } from '@postroom/platform';
import { projectOf } from './identify.ts';

let requests: FairSemaphore | undefined;

/**
 * Works on a request, REST or GraphQL. A project has four fifths of the database connections at most, so that requests of another
 * one never wait behind a hundred of its own.
 */
export function inTurn<T>(caller: Caller | null, work: () => Promise<T>): Promise<T> {
  const projectId = caller === null ? undefined : projectOf(caller);
  if (projectId === undefined) return work();
  requests ??= new FairSemaphore({ total: Infinity, perKey: config.REQUESTS_PER_PROJECT });
  return requests.run(projectId, work);
}
