import { type Caller, config, FairSemaphore, limitPages } from '@postroom/platform';
import { projectOf } from './identify.ts';

let requests: FairSemaphore | undefined;

/**
 * Runs a REST or GraphQL request. A project gets at most four fifths of the database connections, and a fifth while
 * other projects make requests, so that it can't starve them. What the request reads is limited too.
 */
export function inTurn<T>(caller: Caller | null, work: () => Promise<T>): Promise<T> {
  const projectId = caller === null ? undefined : projectOf(caller);
  if (projectId === undefined) return limitPages(work);
  requests ??= new FairSemaphore({
    total: Infinity,
    perKey: config.REQUESTS_PER_PROJECT,
    perKeyShared: Math.max(2, Math.floor(config.REQUESTS_PER_PROJECT / 4)),
  });
  return requests.run(projectId, () => limitPages(work));
}
