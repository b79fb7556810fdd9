import { type Caller, config, FairSemaphore } from '@postroom/platform';
import { projectOf } from './identify.ts';

let requests: FairSemaphore | undefined;

/**
 * Runs a REST or GraphQL request. A project gets at most four fifths of the database connections, so that it can't
 * starve others.
 */
export function inTurn<T>(caller: Caller | null, work: () => Promise<T>): Promise<T> {
  const projectId = caller === null ? undefined : projectOf(caller);
  if (projectId === undefined) return work();
  requests ??= new FairSemaphore({ total: Infinity, perKey: config.REQUESTS_PER_PROJECT });
  return requests.run(projectId, work);
}
