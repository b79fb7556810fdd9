import { type Caller, config, FairSemaphore, isShared, limitText, paceBulkWork } from '@postroom/platform';
import { projectOf } from './identify.ts';

let requests: FairSemaphore | undefined;

/** The part of a slot that a request takes if it shares its statements with others, so that many need few connections. */
const SHARING_SLOTS = 1 / 4;

/**
 * Runs a REST or GraphQL request. A project gets at most four fifths of the database connections, and a fifth while other projects make
 * requests, so that it can't starve them. In that case, requests of a project that has to wait, or that keeps more than one connection busy,
 * are paced too. The text that the request reads is limited.
 */
export function runRequest<T>(
  caller: Caller | null,
  work: () => Promise<T>,
  { sharesStatements = false } = {},
): Promise<T> {
  const projectId = caller === null ? undefined : projectOf(caller);
  if (projectId === undefined) return limitText(work);
  requests ??= new FairSemaphore({
    total: Infinity,
    perKey: config.REQUESTS_PER_PROJECT,
    perKeyShared: Math.max(2, Math.floor(config.REQUESTS_PER_PROJECT / 4)),
    lightBelow: 1,
    pace: async (key, tookMs) => {
      if (isShared(key)) await paceBulkWork(key, tookMs);
    },
  });
  return requests.run(projectId, () => limitText(work), sharesStatements ? SHARING_SLOTS : 1);
}
