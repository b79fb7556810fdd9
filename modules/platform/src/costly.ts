import { isShared, paceBulkWork } from './bulk-pace.ts';
import { config } from '@postroom/settings/config';
import { FairSemaphore } from '@postroom/concurrency';

/** Expensive queries that may queue per project; more are rejected. */
const WAITING_PER_PROJECT = 200;

const bulkSteps = new FairSemaphore({ total: Infinity, perKey: Infinity, perKeyShared: 1, isShared });
let semaphore: FairSemaphore | undefined;

/** Runs a step of an import or a campaign: one of a project at a time, in this process, while other projects make requests. */
export const runBulkStep = <T>(projectId: string, work: () => Promise<T>): Promise<T> => bulkSteps.run(projectId, work);

/**
 * Runs a query whose cost grows with a project's data, such as a count over all contacts. Limits concurrency per project, to one while
 * other projects make requests, and over all projects to half of the connections. Paces the project's next query while the database is
 * slow. `work` must not call this again: it would deadlock.
 * @throws RateLimited if too many of the project are queued.
 */
export function runCostly<T>(projectId: string, work: () => Promise<T>): Promise<T> {
  semaphore ??= new FairSemaphore({
    total: Math.max(1, Math.floor(config.databasePools.main / 2)),
    perKey: config.COSTLY_QUERIES_PER_PROJECT,
    perKeyShared: 1,
    isShared,
    waitingPerKey: WAITING_PER_PROJECT,
    pace: paceBulkWork,
  });
  return semaphore.run(projectId, work);
}
